//! `countersign lock mine`

use super::table;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, look};
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
    look(here, &args.how, "lock.mine", json!({}), |shown| table(&shown["locks"], "you hold nothing"))
}
