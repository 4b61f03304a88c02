//! `countersign lock list`

use super::table;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, list};
use serde_json::json;

/// List every lock that is held, by path
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign lock list
  countersign lock list --format json")]
pub struct Args {
    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let nothing = "nothing is held";
    list(here, &args.how, "lock.list", (json!({}), "locks"), args.limit, |shown| table(&shown["locks"], nothing))
}
