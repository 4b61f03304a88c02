//! `countersign rebuild`

use super::{Exit, output, progress};
use crate::place::Place;
use countersign_engine::{Meaning, SHAPE};
use countersign_ledger::rebuild;

/// Make everything that is derived again, from the events alone
///
/// Needed after an upgrade of a long ledger to a version that derives more, or when `verify` finds that what is derived does not
/// match. The events are not touched.
#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: &Args, place: &Place) -> anyhow::Result<Exit> {
    let mut store = place.open()?;
    let bar = progress("rebuilding", store.head()?.seq);
    let head = rebuild(&mut *store, &Meaning, &mut |done| bar.set_position(done))?;
    bar.finish_and_clear();
    output::print(&format!("rebuilt from {} events, in shape {SHAPE}\n", head.seq));
    Ok(Exit::Allowed)
}
