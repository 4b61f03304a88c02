//! `countersign run`

mod accept;
mod asked;
mod cancel;
mod close;
mod drawn;
mod dry;
pub mod inlining;
mod list;
pub(super) mod live;
mod noted;
mod open;
mod reading;
mod report;
mod show;
mod start;

use super::Exit;
use super::asking::Here;

/// Start a run with a plan, and begin, end and look at runs: one undertaking with its tasks
///
/// `countersign run PLAN` is short for `countersign run start PLAN`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign run plan.yaml
  countersign run plan.yaml --dry-run
  countersign run --resume
  countersign run open --objective 'Round money half to even' --constraint 'no new dependencies'
  countersign run show
  countersign run close

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 could not be done.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,

    #[command(flatten)]
    start: start::Args,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Start(start::Args),
    Open(open::Args),
    Close(close::Args),
    Cancel(cancel::Args),
    Accept(accept::Args),
    List(list::Args),
    Show(show::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        None => start::run(&args.start, here),
        Some(Verb::Start(args)) => start::run(args, here),
        Some(Verb::Open(args)) => open::run(args, here),
        Some(Verb::Close(args)) => close::run(args, here),
        Some(Verb::Cancel(args)) => cancel::run(args, here),
        Some(Verb::Accept(args)) => accept::run(args, here),
        Some(Verb::List(args)) => list::run(args, here),
        Some(Verb::Show(args)) => show::run(args, here),
    }
}
