//! `countersign run cancel`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, ask};
use crate::cli::words::text;
use serde_json::json;

/// Give a run up: its unfinished tasks are canceled, and their locks are free
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run cancel --reason 'the objective has changed'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "run_id": args.of.id(), "reason": args.reason });
    ask(here, &args.once, "run.cancel", request, |answer| {
        format!("canceled: run {} and what was unfinished in it\n", text(answer, "run_id"))
    })
}
