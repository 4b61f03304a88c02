//! `countersign migrate`

use super::{Exit, init, output, progress};
use crate::place::{self, Place};
use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::Meaning;
use countersign_ledger::{Ledger, migrate};
use std::path::Path;

/// Move the ledger to another place; it keeps its history and its hash
///
/// What broke off is taken up where it stopped. When all is there, the old place is closed and says where the ledger went,
/// and the project's settings name the new one.
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
    let mut source = from.open()?;
    let id = Ledger::project_in(source.another()?)?.context("there is no project in this ledger")?;
    let to = Place::parse(&args.to, Path::new(""), Some(&id))?;
    if to == from {
        bail!("the ledger is at {to} already");
    }
    let configured = to.to_configure()?;
    let mut target = to.open_or_create(&id)?;
    let bar = progress("moving", source.head()?.seq);
    let head = migrate(&mut *source, &mut *target, &Meaning, &to.to_string(), &mut |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    output::print(&format!("moved {} events from {from} to {to}\n  head  {}\n", head.seq, head.hash));
    let config = project.root.as_ref().map(|root| root.join(FOLDER).join("config.toml")).filter(|path| path.exists());
    let own = project.root.as_ref().is_some_and(|root| to == Place::File(root.join(FOLDER).join(place::FILE)));
    let address = configured
        .map(str::to_owned)
        .unwrap_or_else(|| if own { format!("{FOLDER}/{}", place::FILE) } else { absolute(&args.to) });
    match config {
        Some(config) => {
            init::configure(&config, &address, &id)?;
            output::print(&format!("  {} names the new place; the old one is closed\n", config.display()));
        }
        None => output::say("help: name the new place with --ledger; the old one is closed"),
    }
    Ok(Exit::Allowed)
}

fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}
