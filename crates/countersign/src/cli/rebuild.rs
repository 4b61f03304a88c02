//! `countersign rebuild`

use super::asking::{How, answer};
use super::{Exit, output, progress};
use crate::place::Place;
use countersign_engine::{Meaning, SHAPE};
use countersign_ledger::rebuild;
use serde_json::json;

/// Make everything that is derived again, from the events alone
///
/// Needed after an upgrade of a long ledger to a version that derives more, or when `verify` finds that what is derived does not
/// match. The events are not touched.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign rebuild
  countersign rebuild && countersign verify")]
pub struct Args {
    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let mut store = place.open()?;
    let bar = progress("rebuilding", store.head()?.seq);
    let head = rebuild(&mut *store, &Meaning, &mut |done| bar.set_position(done))?;
    bar.finish_and_clear();
    let shown = json!({ "events": head.seq, "shape": SHAPE });
    let said = |_: &_| format!("rebuilt from {} events, in shape {SHAPE}\n", head.seq);
    output::print(&answer(&shown, args.how.format, said));
    Ok(Exit::Allowed)
}
