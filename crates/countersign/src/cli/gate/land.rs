//! `countersign gate land`

use super::followed;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, UnderLease, ask};
use serde_json::json;

/// Say that work which went through every gate is part of the tree: its task is done
///
/// What is there must be what was validated; otherwise it is looked at again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate land T-1 --bound 9fceb02d0ae598e95dc970b74767f19372d61af8 --lease 7 --as lead")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// What is there now: the commit that was claimed, or the hash of contents
    #[arg(long, value_name = "BOUND")]
    bound: String,

    /// The commit that brought it into the tree
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    under: UnderLease,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({
        "run_id": args.of.id(), "task_id": args.task, "lease": args.under.number()?, "bound": args.bound,
        "commit": args.commit,
    });
    ask(here, &args.once, "gate.land", request, |answer| followed(answer, &args.task))
}
