//! `countersign promise list`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, list};
use crate::cli::words::{Table, status, text};
use serde_json::{Value, json};

/// List the promises that belong to no task, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign promise list
  countersign promise list --format json")]
pub struct Args {
    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    list(here, &args.how, "promise.list", (json!({}), "promises"), args.limit, table)
}

fn table(shown: &Value) -> String {
    let mut table = Table::new(["PROMISE", "STATUS", "OWNER", "MET", "GATES", "TITLE"]);
    for promise in shown["promises"].as_array().into_iter().flatten() {
        let [id, owner, met, title] = ["promise_id", "owned_by", "met", "title"].map(|name| text(promise, name));
        // What is finished has no gates to pass any more.
        let gates = match promise["status"].as_str() {
            Some("verified" | "cancelled") => String::new(),
            _ => text(promise, "reason"),
        };
        table.row([id, status(promise), owner, met, gates, title]);
    }
    table.text_or("there is no promise yet; `countersign promise create` makes one")
}
