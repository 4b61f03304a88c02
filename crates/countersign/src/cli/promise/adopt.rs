//! `countersign promise adopt`

use super::became;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask};
use serde_json::json;

/// Take a promise on that nobody owns
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise adopt promise-1a2b3c4d --as coder-1")]
pub struct Args {
    /// The promise
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let said = |answer: &_| became(answer, &args.id, "yours");
    ask(here, &args.once, "promise.adopt", json!({ "promise_id": args.id }), said)
}
