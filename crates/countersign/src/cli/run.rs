//! `countersign run`

mod cancel;
mod close;
mod list;
mod open;
mod show;

use super::Exit;
use super::asking::Here;

/// Begin, end and look at runs: one undertaking with its tasks
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run open --objective 'Round money half to even' --constraint 'no new dependencies'
  countersign run show
  countersign run close

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 could not be done.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Open(open::Args),
    Close(close::Args),
    Cancel(cancel::Args),
    List(list::Args),
    Show(show::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Open(args) => open::run(args, here),
        Verb::Close(args) => close::run(args, here),
        Verb::Cancel(args) => cancel::run(args, here),
        Verb::List(args) => list::run(args, here),
        Verb::Show(args) => show::run(args, here),
    }
}
