//! `countersign promise release`

use super::became;
use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask};
use serde_json::json;

/// Give a promise up for somebody else to adopt
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise release promise-1a2b3c4d --as coder-1")]
pub struct Args {
    /// The promise
    #[arg(value_name = "ID")]
    id: String,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let said = |answer: &_| became(answer, &args.id, "released, for somebody else to adopt");
    ask(here, &args.once, "promise.release", json!({ "promise_id": args.id }), said)
}
