//! `countersign backup`

use super::asking::{How, answer};
use super::{Exit, output, progress};
use crate::place::Place;
use anyhow::bail;
use countersign_engine::Meaning;
use countersign_ledger::{Clock, Sqlite, Store, copy};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Copy the ledger to a file, while it is in use
///
/// The copy is a ledger like the other: `countersign --ledger FILE verify` works on it. Long texts go into the folder `FILE-blobs` beside it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign backup /backup/ledger-monday.db
  countersign --ledger /backup/ledger-monday.db verify")]
pub struct Args {
    /// The file to make; it must not be there
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let mut store = place.open()?;
    match place {
        Place::File(_) => store.backup(&args.file)?,
        Place::Database(..) => fetch(&mut *store, &args.file)?,
    }
    let shown = json!({ "from": place.to_string(), "to": args.file });
    let said = |_: &_| format!("copied {place} to {}\n", args.file.display());
    output::print(&answer(&shown, args.how.format, said));
    Ok(Exit::Allowed)
}

/// Copies a ledger out of a database. The file is in its place only once it is whole.
fn fetch(store: &mut dyn Store, to: &Path) -> anyhow::Result<()> {
    if to.exists() {
        bail!("{} is there already", to.display());
    }
    let to = std::path::absolute(to)?;
    let folder = tempfile::tempdir_in(to.parent().unwrap_or(Path::new("/")))?;
    let mut fetched = Sqlite::create(&folder.path().join("fetched.db"), Clock::System)?;
    let bar = progress("copying", store.head()?.seq);
    copy(store, &mut fetched, &Meaning, &mut |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    Ok(fetched.backup(&to)?)
}
