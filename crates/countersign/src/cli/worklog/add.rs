//! `countersign worklog add`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask, wrong};
use crate::cli::words::text;
use crate::paths;
use serde_json::json;

/// Add a line to the worklog of a task
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign worklog add T-1 --action edit --file src/money/round.rs --decision 'use a decimal type' \\
    --result 'tests pass' --next submit --as coder-1")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// What was done, in a word or two
    #[arg(long, value_name = "TEXT")]
    action: String,

    /// The files that were changed
    #[arg(long, value_name = "PATH", num_args = 1..)]
    file: Vec<String>,

    /// What was decided, and why
    #[arg(long, value_name = "TEXT")]
    decision: String,

    /// What came of it
    #[arg(long, value_name = "TEXT")]
    result: String,

    /// What comes next
    #[arg(long, value_name = "TEXT")]
    next: String,

    /// Why it stopped, if it did; `countersign explain` knows the codes
    #[arg(long, value_name = "CODE")]
    code: Option<String>,

    /// What shows it
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let place = |path: &String| paths::in_project(here.project, path).map_err(wrong);
    let files: Vec<String> = args.file.iter().map(place).collect::<anyhow::Result<_>>()?;
    let request = json!({
        "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()?, "action": args.action,
        "files_touched": files, "decision": args.decision, "result": args.result, "next_step": args.next,
        "code": args.code, "evidence": args.evidence,
    });
    ask(here, &args.once, "worklog.add", request, |answer| {
        format!("{}: noted as event {}\n", text(answer, "task_id"), text(answer, "seq"))
    })
}
