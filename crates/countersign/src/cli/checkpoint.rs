//! `countersign checkpoint`

use super::{Exit, output};
use crate::home::Home;
use crate::place::Place;
use anyhow::Context;
use countersign_engine::Engine;
use countersign_ledger::{Checkpoint, tree};
use std::path::PathBuf;

/// Sign where the ledger stands, so that later nobody can change what came before
///
/// Keep what this prints somewhere else: in another repository, a mail, a ticket. `countersign verify --checkpoint` then shows
/// any rewrite, even by somebody who has the signing key.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign checkpoint
  countersign checkpoint --out monday.note")]
pub struct Args {
    /// Write it to this file as well
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let engine = place.engine()?;
    let (_, note) = signed(&engine)?;
    if let Some(path) = &args.out {
        crate::files::write(path, &note)?;
    }
    output::print(&note);
    Ok(Exit::Allowed)
}

/// A checkpoint of where the ledger stands, signed, and kept in the user's configuration.
pub fn signed(engine: &Engine) -> anyhow::Result<(Checkpoint, String)> {
    let home = Home::find()?;
    let project = engine.ledger().project().to_owned();
    let key = home.secret_key(&project)?;
    let key = key.with_context(|| {
        format!(
            "the signing key of project {project} is not in this user's configuration; `countersign init` makes one"
        )
    })?;
    let mut store = engine.ledger().store()?;
    let head = store.head()?;
    let root = tree::root_at(&mut *store, head.seq)?;
    let checkpoint = Checkpoint { project, size: head.seq, root, head: head.hash };
    let note = checkpoint.sign(&key)?;
    home.keep_checkpoint(&checkpoint, &note)?;
    Ok((checkpoint, note))
}
