//! `countersign promise cancel`

use super::became;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask};
use serde_json::json;

/// Give a promise up for good
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise cancel promise-1a2b3c4d --reason 'the feature is not wanted any more' --as coder-1")]
pub struct Args {
    /// The promise
    #[arg(value_name = "ID")]
    id: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "promise_id": args.id, "reason": args.reason });
    ask(here, &args.once, "promise.cancel", request, |answer| became(answer, &args.id, "cancelled"))
}
