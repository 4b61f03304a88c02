//! `countersign task extend`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask};
use crate::cli::words::{seconds, span};
use serde_json::json;

/// Change how long a worker may be silent, from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task extend T-1 --timeout 1h --reason 'the test suite takes long' --as coder-1")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// How long its worker may be silent
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    timeout: i64,

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
    let request = json!({
        "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()?, "timeout_seconds": args.timeout,
        "reason": args.reason,
    });
    ask(here, &args.once, "task.extend", request, |_| {
        format!("{}: its worker may be silent for {} from now on\n", args.task, span(args.timeout))
    })
}
