//! `countersign checkpoint`

use super::asking::{How, answer};
use super::{Exit, output};
use crate::home::Home;
use crate::place::{Place, must_be_no_ledger};
use anyhow::Context;
use countersign_engine::Engine;
use countersign_ledger::{Checkpoint, Store, tree};
use serde_json::json;
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

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    must_be_no_ledger(args.out.as_deref())?;
    let engine = place.engine()?;
    let Some((checkpoint, note)) = signed(&engine)? else { return Ok(Exit::Refused) };
    if let Some(path) = &args.out {
        crate::files::write(path, &note)?;
    }
    let Checkpoint { project, size, root, head } = checkpoint;
    let shown = json!({
        "project": project, "size": size, "root": root.to_string(), "head": head.to_string(), "note": note,
    });
    output::print(&answer(&shown, args.how.format, |_| note.clone()));
    Ok(Exit::Allowed)
}

/// A checkpoint of where the ledger stands, signed, and kept in the user's configuration. Nothing, if the ledger contradicts
/// the one that is kept there: to sign that would be to say two things, and to lose what shows it.
pub fn signed(engine: &Engine) -> anyhow::Result<Option<(Checkpoint, String)>> {
    let home = Home::find()?;
    let project = engine.ledger().project().to_owned();
    let key = home.secret_key(&project)?;
    let missing = || {
        format!(
            "the signing key of project {project} is not in this user's configuration; `countersign init` makes one"
        )
    };
    let key = key.with_context(missing)?;
    let mut store = engine.ledger().store()?;
    if let Some(kept) = home.kept_checkpoint(&project)?
        && !goes_on_from(&mut *store, &kept)?
    {
        output::say(&format!(
            "does not match: the ledger is not the one that the kept checkpoint of {} events knows; nothing is signed",
            kept.size
        ));
        output::say("  help: `countersign verify` tells more");
        return Ok(None);
    }
    let head = store.head()?;
    let root = tree::root_at(&mut *store, head.seq)?;
    let checkpoint = Checkpoint { project, size: head.seq, root, head: head.hash };
    let note = checkpoint.sign(&key)?;
    home.keep_checkpoint(&checkpoint, &note)?;
    Ok(Some((checkpoint, note)))
}

/// Whether a ledger has what a checkpoint knows, and perhaps more.
pub(super) fn goes_on_from(store: &mut dyn Store, kept: &Checkpoint) -> anyhow::Result<bool> {
    if kept.size == 0 {
        return Ok(true);
    }
    let last = store.events(kept.size, None, 1)?;
    let same_chain = last.first().is_some_and(|row| row.seq == kept.size && row.hash == kept.head);
    Ok(same_chain && tree::root_at(store, kept.size)? == kept.root)
}
