//! `countersign import`

use super::asking::{How, answer};
use super::{Exit, Global, output, verify};
use crate::files;
use crate::place::{self, Place};
use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::Meaning;
use countersign_ledger::{Exported, Intake, read_export};
use serde_json::json;
use std::path::PathBuf;

/// Make a ledger from an export; it ends with the same hash
///
/// The export is verified as it is read. The ledger must be empty, or have been begun by the same import: one that broke off
/// is taken up where it stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign import audit.jsonl
  countersign import audit.jsonl --ledger copy.db --key countersign.pub")]
pub struct Args {
    /// The export
    #[arg(value_name = "FILE.jsonl")]
    file: PathBuf,

    /// A public key to trust, as a file; otherwise those in the user's configuration
    #[arg(long, value_name = "FILE")]
    key: Vec<PathBuf>,

    /// Accept an export that nobody has signed
    #[arg(long)]
    unsigned: bool,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, global: &Global, project: &Project) -> anyhow::Result<Exit> {
    let keys = verify::keys(&args.key)?;
    // Once through before anything is made: whose log it is and whether it is whole is known only at its end.
    let whole = verify::read_known(&mut files::opened(&args.file)?, &keys, &[], &mut |_, _, _, _| Ok(()))
        .with_context(|| format!("{} cannot be imported", args.file.display()))?;
    if whole.from != 1 {
        bail!("this export begins with event {}; a ledger can be made only from the first one on", whole.from);
    }
    if !whole.signed && !args.unsigned {
        output::say("refused: no known key has signed this export, so anybody could have made it");
        output::say("  help: give the public key with --key, or accept that with --unsigned");
        return Ok(Exit::Refused);
    }
    let place = destination(global, project)?;
    must_be_meant(&place, project, global, &whole.project)?;
    let mut store = place.open_or_create(&whole.project)?;
    let mut intake = Intake::open(&mut *store, &Meaning, &whole.project)?;
    let known = intake.head().seq;
    read_export(&mut files::opened(&args.file)?, &keys, &[], &mut |_, _, events, texts| {
        let events: Vec<_> = events.into_iter().filter(|row| row.seq > known).collect();
        let texts = texts.into_iter().filter(|row| row.seq > known).collect();
        if events.is_empty() { Ok(()) } else { intake.take(events, texts) }
    })?;
    intake.finish(whole.head)?;
    let Exported { events, project, head, .. } = &whole;
    let shown = json!({
        "project": project, "events": events, "place": place.to_string(),
        "head": { "seq": head.seq, "hash": head.hash.to_string() },
    });
    let said = |_: &_| {
        format!("imported {events} events of project {project} into {place}\n  head  {} {}\n", head.seq, head.hash)
    };
    output::print(&answer(&shown, args.how.format, said));
    Ok(Exit::Allowed)
}

fn destination(global: &Global, project: &Project) -> anyhow::Result<Place> {
    if global.ledger.is_some() || project.root.is_some() {
        return Place::of(project, global.ledger.as_deref());
    }
    let folder = std::env::current_dir()?.join(FOLDER);
    super::init::furnish(&folder)?;
    Ok(Place::File(folder.join(place::FILE)))
}

/// The ledger of another project does not become the ledger of this one. Elsewhere, where it is named, it may lie.
fn must_be_meant(place: &Place, project: &Project, global: &Global, exported: &str) -> anyhow::Result<()> {
    match place.expected(project) {
        Some(expected) if expected != exported && (global.ledger.is_none() || place.is_own_of(project)) => bail!(
            "this is an export of project {exported}, and {} is project {expected}; name another place for it with --ledger",
            project.root.as_deref().unwrap_or(std::path::Path::new(".")).display()
        ),
        _ => Ok(()),
    }
}
