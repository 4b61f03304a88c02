//! `countersign lock mine`

use super::table;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, list};
use serde_json::json;

/// List what you hold
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign lock mine --as coder-1")]
pub struct Args {
    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let nothing = "you hold nothing";
    list(here, &args.how, "lock.mine", (json!({}), "locks"), None, |shown| table(&shown["locks"], nothing))
}
