//! `countersign task block`

use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask};
use serde_json::json;

/// Say that a task cannot go on, and why; its locks are free
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task block T-1 --reason 'the specification contradicts itself' --as coder-1
  countersign task block T-1 --code LOCK_CONFLICT --reason 'src/tax is needed, too' --as coder-1")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// What it is filed under; `countersign explain` knows the codes
    #[arg(long, value_name = "CODE", default_value = "DEPENDENCY_NOT_MET")]
    code: String,

    /// What it waits for
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({
        "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()?, "code": args.code,
        "reason": args.reason,
    });
    ask(here, &args.once, "task.block", request, |answer| stands(answer, &args.task))
}
