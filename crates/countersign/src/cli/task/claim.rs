//! `countersign task claim`

use super::claimed;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, ask};
use serde_json::json;

/// Take a task under a lease: the one named, or the best that is ready
///
/// Nobody else may work on it or change its files until the lease ends. It ends with the task, or when its worker is
/// silent for too long.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task claim T-1 --as coder-1
  countersign task claim --as coder-1")]
pub struct Args {
    /// The task; otherwise the best that is ready and free
    #[arg(value_name = "TASK")]
    task: Option<String>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "run_id": args.of.id(), "task_id": args.task });
    ask(here, &args.once, "task.claim", request, claimed)
}
