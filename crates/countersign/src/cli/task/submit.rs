//! `countersign task submit`

use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, bring, text_of};
use crate::cli::words::{text, texts};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Bring the result of a task
///
/// It is checked against the assignment and, in a git repository, against what was really changed; the file that it is
/// brought in counts for no change, unless the task may change it. One that comes after the lease was lost is kept as
/// evidence, and completes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task submit result.json --as coder-1
  countersign task submit - --lease 7 --as coder-1 < result.md")]
pub struct Args {
    /// The result, in JSON, YAML or Markdown; - is standard input
    #[arg(value_name = "RESULT")]
    result: PathBuf,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let result = text_of(here, &args.result)?;
    let request = json!({ "run_id": args.of.id(), "lease": args.under.number()?, "result": result });
    bring(here, &args.once, "task.submit", (&args.result, request), said)
}

fn said(answer: &Value) -> String {
    // In a run that follows a plan a result is a claim, and changes no state by itself.
    if answer["status"].is_null() && answer["result"].is_u64() {
        let task = text(answer, "task_id");
        return format!("{task}: claimed, and its gates look at it\n  look  countersign gate status {task}\n");
    }
    let mut out = stands(answer, "the task");
    let frees = texts(answer, "frees");
    if !frees.is_empty() {
        out.push_str(&format!("  it was waited for by {}\n", frees.join(", ")));
    }
    out
}
