//! `countersign lock`

mod list;
mod may;
mod mine;
mod who;

use super::Exit;
use super::asking::Here;
use super::words::{Table, left, text};
use serde_json::Value;

/// Ask who holds which paths, and who may change them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign lock who src/money/round.rs
  countersign lock may src/money/round.rs --as coder-1
  countersign lock list")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Who(who::Args),
    Mine(mine::Args),
    List(list::Args),
    May(may::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Who(args) => who::run(args, here),
        Verb::Mine(args) => mine::run(args, here),
        Verb::List(args) => list::run(args, here),
        Verb::May(args) => may::run(args, here),
    }
}

/// Locks, each in a line.
fn table(locks: &Value, nothing: &str) -> String {
    let mut table = Table::new(["PATH", "TASK", "OWNER", "LEASE", "LEFT", "RUN"]);
    for lock in locks.as_array().into_iter().flatten() {
        let [path, task, owner, lease, run] =
            ["path", "task_id", "owner", "lease", "run_id"].map(|name| text(lock, name));
        table.row([path, task, owner, lease, left(lock, "expires_at"), run]);
    }
    table.text_or(nothing)
}
