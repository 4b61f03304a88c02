//! `countersign migrate`

use super::{Exit, output, progress};
use crate::place::Place;
use crate::project::Project;
use countersign_engine::Meaning;
use countersign_ledger::migrate;
use std::path::Path;

/// Move the ledger to another place; it keeps its history and its hash
///
/// What broke off is taken up where it stopped. When all is there, the old place is closed and says where the ledger went.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign migrate --to postgres://countersign@db.example/agents
  countersign --ledger postgres://countersign@db.example/agents migrate --to .countersign/ledger.db")]
pub struct Args {
    /// The file or database to move to
    #[arg(long, value_name = "FILE|URL")]
    to: String,
}

pub fn run(args: &Args, project: &Project, ledger: Option<&str>) -> anyhow::Result<Exit> {
    let from = Place::of(project, ledger)?;
    let to = Place::parse(&args.to, Path::new(""))?;
    let mut source = from.open()?;
    let mut target = to.open_or_create()?;
    let bar = progress("moving", source.head()?.seq);
    let head = migrate(&mut *source, &mut *target, &Meaning, &to.to_string(), &mut |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    output::print(&format!("moved {} events from {from} to {to}\n  head  {}\n", head.seq, head.hash));
    output::say("help: name the new place in .countersign/config.toml, or with --ledger; the old one is closed");
    Ok(Exit::Allowed)
}
