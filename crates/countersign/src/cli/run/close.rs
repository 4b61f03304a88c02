//! `countersign run close`

use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once, ask};
use crate::cli::words::text;
use serde_json::json;

/// End a run in which every task is finished
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run close
  countersign run close --reason 'everything is done'")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    /// Why now
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "run_id": args.of.id(), "reason": args.reason });
    ask(here, &args.once, "run.close", request, |answer| format!("closed: run {}\n", text(answer, "run_id")))
}
