//! Making everything that is derived again, from the events alone.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::fold::Fold;
use crate::ledger::PATIENCE;
use crate::overlay::Overlay;
use crate::pages;
use crate::rows::{EventRow, RowValue, Table};
use crate::store::{Batch, Head, Store};
use crate::strict;
use crate::time::Time;
use crate::transaction::Transaction;
use crate::tree::{Edge, leaf};
use crate::writer::{META_PROJECT, META_SHAPE, may_write, meta};

/// Takes all derived rows away and makes them again, in one transaction: whoever reads sees the old ones until all of
/// the new ones are there. Says how many events are done. Liveness stays as it is.
pub fn rebuild(store: &mut dyn Store, fold: &dyn Fold, progress: &mut dyn FnMut(u64)) -> Result<Head> {
    let begun = store.begin_within(PATIENCE)?;
    let head = begun.head;
    match may_write(&begun, begun.meta(META_PROJECT).unwrap_or_default(), fold.shape()) {
        // To bring an older shape up to date is what this is for.
        Ok(()) | Err(Error::Older { .. }) => {}
        Err(error) => {
            store.rollback();
            return Err(error);
        }
    }
    let rebuilt = remake(store, fold, head, progress);
    match rebuilt {
        Ok(()) => store.commit()?,
        Err(error) => {
            store.rollback();
            return Err(error);
        }
    }
    store.settle();
    Ok(head)
}

fn remake(store: &mut dyn Store, fold: &dyn Fold, head: Head, progress: &mut dyn FnMut(u64)) -> Result<()> {
    Table::DERIVED.into_iter().try_for_each(|table| store.clear(table))?;
    let mut edge = Edge::default();
    while edge.size() < head.seq {
        let first = edge.size() + 1;
        let mut next = first;
        let Some(page) = pages::page(store, &mut next, head.seq)? else {
            return Err(Error::Damaged(format!("event {first} is missing")));
        };
        refold(store, fold, &page, &mut edge)?;
        progress(edge.size());
    }
    let shape = (meta(META_SHAPE), RowValue::Meta(fold.shape().to_string()));
    store.apply(&Batch { put: vec![shape], ..Batch::default() })
}

/// Writes everything that follows from a page of events into a store that has what followed from those before it.
pub(crate) fn refold(store: &mut dyn Store, fold: &dyn Fold, page: &[EventRow], edge: &mut Edge) -> Result<()> {
    let mut overlay = Overlay::default();
    derive(store, fold, page, edge, &mut overlay, false)?;
    store.apply(&overlay.into_batch())
}

/// Everything that follows from a page of events, into an overlay.
pub(crate) fn derive(
    store: &mut dyn Store,
    fold: &dyn Fold,
    page: &[EventRow],
    edge: &mut Edge,
    overlay: &mut Overlay,
    live: bool,
) -> Result<()> {
    let mut head = Head::EMPTY;
    for row in page {
        let event = read(row)?;
        overlay.mark();
        let mut transaction = Transaction {
            store,
            fold,
            project: event.project,
            overlay,
            head: &mut head,
            now: Time(0),
            live,
            healed: Vec::new(),
        };
        transaction.derive(&event)?;
        edge.add(leaf(&row.body), |key, value| overlay.put(key, value));
    }
    Ok(())
}

/// The event of a row. Nearly all are in the one form that they may have, and are read faster for it.
fn read(row: &EventRow) -> Result<Event<'_>> {
    let damaged = |why| Error::Damaged(format!("event {} cannot be read: {why}", row.seq));
    strict::event(&row.body).map_or_else(|| Event::read(&row.body).map_err(damaged), Ok)
}
