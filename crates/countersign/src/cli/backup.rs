//! `countersign backup`

use super::{Exit, output};
use crate::place::Place;
use std::path::PathBuf;

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
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let mut store = place.open()?;
    store.backup(&args.file)?;
    output::print(&format!("copied {place} to {}\n", args.file.display()));
    Ok(Exit::Allowed)
}
