//! `countersign task release`

use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask};
use serde_json::json;

/// Give a task back unfinished: its locks are free, and somebody else may take it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task release T-1 --reason 'another task comes first' --as coder-1")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// Why
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
    let request =
        json!({ "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()?, "reason": args.reason });
    ask(here, &args.once, "task.release", request, |answer| stands(answer, &args.task))
}
