//! `countersign bundle`

mod make;
mod resume;

use super::Exit;
use super::asking::Here;

/// Hand a run over to an orchestrator with a fresh context
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign bundle make --out bundle.json
  countersign bundle resume bundle.json --as orchestrator-2")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Make(make::Args),
    Resume(resume::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Make(args) => make::run(args, here),
        Verb::Resume(args) => resume::run(args, here),
    }
}
