//! `countersign task heartbeat`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask};
use crate::cli::words::until;
use serde_json::json;

/// Give a sign of life: the lease lasts its whole length from now on
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task heartbeat T-1 --as coder-1")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()? });
    ask(here, &args.once, "task.heartbeat", request, |answer| {
        format!("{}: alive, until {}\n", args.task, until(answer["expires_at"].as_str().unwrap_or("?")))
    })
}
