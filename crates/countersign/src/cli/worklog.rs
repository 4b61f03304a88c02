//! `countersign worklog`

mod add;
mod show;

use super::Exit;
use super::asking::Here;

/// Write into the worklog of a task, and read it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign worklog add T-1 --action edit --file src/money/round.rs --decision 'use a decimal type' \\
    --result 'tests pass' --next submit --as coder-1
  countersign worklog show T-1")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Add(add::Args),
    Show(show::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Add(args) => add::run(args, here),
        Verb::Show(args) => show::run(args, here),
    }
}
