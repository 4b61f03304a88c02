//! `countersign migrate`

use super::asking::{How, answer};
use super::{Exit, init, output, progress};
use crate::files;
use crate::place::{self, Place};
use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::Meaning;
use countersign_ledger::{Ledger, migrate};
use serde_json::json;
use std::path::{Path, PathBuf};

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

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, project: &Project, ledger: Option<&str>) -> anyhow::Result<Exit> {
    let from = Place::of(project, ledger)?;
    let mut source = from.open()?;
    let id = Ledger::project_in(source.another()?)?.context("there is no project in this ledger")?;
    let to = Place::parse(&absolute(&args.to), Path::new(""), Some(&id))?;
    if to == from {
        bail!("the ledger is at {to} already");
    }
    to.trust()?;
    // Whatever could go wrong with the settings goes wrong before anything is moved.
    let settings = settings(project, &to, &id)?;
    let mut target = to.open_or_create(&id)?;
    let bar = progress("moving", source.head()?.seq);
    let head = migrate(&mut *source, &mut *target, &Meaning, &to.to_string(), &mut |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    let settings = settings.map(|(path, text)| files::write(&path, &text).map(|()| path)).transpose();
    let named = settings.as_ref().ok().and_then(|path| path.as_ref());
    let shown = json!({
        "from": from.to_string(), "to": to.to_string(), "settings": named,
        "head": { "seq": head.seq, "hash": head.hash.to_string() },
    });
    let said = |_: &_| {
        let named = named.map(|path| format!("  {} names the new place; the old one is closed\n", path.display()));
        format!("moved {} events from {from} to {to}\n  head  {}\n{}", head.seq, head.hash, named.unwrap_or_default())
    };
    output::print(&answer(&shown, args.how.format, said));
    if settings?.is_none() {
        output::say("help: name the new place with --ledger; the old one is closed");
    }
    output::say(
        "note: the old place still has every text, also those that will be erased in the new one; remove it when it is no longer needed",
    );
    Ok(Exit::Allowed)
}

/// The project's settings as they name the new place, and where they belong.
fn settings(project: &Project, to: &Place, id: &str) -> anyhow::Result<Option<(PathBuf, String)>> {
    let Some(root) = &project.root else { return Ok(None) };
    let path = root.join(FOLDER).join("config.toml");
    if !path.exists() {
        return Ok(None);
    }
    let root = root.canonicalize()?;
    let address = to.to_configure(&root)?.unwrap_or_else(|| format!("{FOLDER}/{}", place::FILE));
    let text = init::configured(&path, &address, id)?;
    Ok(Some((path, text)))
}

/// A file's name from the root on; an address is one already.
fn absolute(named: &str) -> String {
    let path = std::path::absolute(named).ok().filter(|_| !named.contains("://"));
    path.map_or_else(|| named.to_owned(), |path| path.display().to_string())
}
