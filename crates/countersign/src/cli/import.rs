//! `countersign import`

use super::asking::{How, answer};
use super::{Exit, Global, output, verify, wrong};
use crate::files;
use crate::home::Home;
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
/// is taken up where it stopped. A directory that was made another project stays that, unless its ledger is gone and --new
/// says that it is to be this one from now on.
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

    /// Make this directory the exported project although it was made another one, whose ledger is gone
    #[arg(long)]
    new: bool,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, global: &Global, project: &Project) -> anyhow::Result<Exit> {
    let keys = verify::keys(&args.key)?;
    if args.file.as_os_str() == "-" {
        return Err(wrong(
            "an export is gone through twice, which standard input cannot be; write it to a file, and name that"
                .to_owned(),
        ));
    }
    // Once through before anything is made: whose log it is and whether it is whole is known only at its end.
    let whole = verify::read_known(&mut verify::opened(&args.file)?, &keys, &[], &mut |_, _, _, _| Ok(()))
        .with_context(|| format!("{} cannot be imported", args.file.display()))?;
    if whole.from != 1 {
        bail!("this export begins with event {}; a ledger can be made only from the first one on", whole.from);
    }
    if !whole.signed && !args.unsigned {
        output::say("refused: no known key has signed this export, so anybody could have made it");
        output::say("  help: give the public key with --key, or accept that with --unsigned");
        return Ok(Exit::Refused);
    }
    let destination = Destination::of(global, project)?;
    destination.must_be_meant(project, &whole.project, args.new)?;
    destination.prepare(&whole.project, args.new)?;
    let place = destination.place;
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

/// Where the ledger is made.
struct Destination {
    place: Place,
    /// The directory that it is to be the ledger of; none if it lies somewhere that was named.
    root: Option<PathBuf>,
    /// Whether that directory has to be furnished as a project.
    bare: bool,
}

impl Destination {
    fn of(global: &Global, project: &Project) -> anyhow::Result<Self> {
        if global.ledger.is_none() && project.root.is_none() {
            let root = std::env::current_dir()?;
            let place = Place::File(root.join(FOLDER).join(place::FILE));
            return Ok(Self { place, root: Some(root), bare: true });
        }
        let place = Place::of(project, global.ledger.as_deref())?;
        let own = global.ledger.is_none() || place.is_own_of(project);
        Ok(Self { place, root: project.root.clone().filter(|_| own), bare: false })
    }

    /// The ledger of another project does not become the ledger of this one, not even where `.countersign` is gone with all
    /// that was in it. Elsewhere, where it is named, it may lie.
    fn must_be_meant(&self, project: &Project, exported: &str, new: bool) -> anyhow::Result<()> {
        let Some(root) = &self.root else { return Ok(()) };
        let expected = if self.bare { place::pinned(root) } else { self.place.expected(project) };
        let Some(expected) = expected.filter(|it| it != exported) else { return Ok(()) };
        let gone = matches!(&self.place, Place::File(path) if !path.exists());
        if gone && new {
            return Ok(());
        }
        let way = if gone { ", or make this directory that project from now on with --new" } else { "" };
        bail!(
            "this is an export of project {exported}, and {} is project {expected}; name another place for it with --ledger{way}",
            root.display()
        )
    }

    /// Makes what belongs around the ledger. What the directory is comes first: an import that breaks off can then be gone on
    /// with.
    fn prepare(&self, exported: &str, new: bool) -> anyhow::Result<()> {
        if let (Some(root), true) = (&self.root, new) {
            let root = root.canonicalize().with_context(|| format!("{} cannot be used", root.display()))?;
            Home::find()?.pin(&root, exported)?;
        }
        match &self.root {
            Some(root) if self.bare => super::init::furnish(&root.join(FOLDER)),
            _ => Ok(()),
        }
    }
}
