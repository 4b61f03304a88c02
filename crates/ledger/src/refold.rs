//! Everything that follows from events, page after page, in a store that has what followed from those before them.
//!
//! `rebuild`, `verify` and `import` all go this way, and an append goes through the same [`Transaction::derive`].

use crate::error::{Error, Result};
use crate::event::Event;
use crate::fold::Fold;
use crate::hash::Hash;
use crate::overlay::Overlay;
use crate::rows::EventRow;
use crate::store::{Batch, Head, Store};
use crate::strict;
use crate::time::Time;
use crate::transaction::Transaction;
use crate::tree::{Edge, leaf};
use std::sync::Arc;

/// What follows from the events so far, of which the last page may not be written yet.
pub(crate) struct Refold<'a> {
    fold: &'a dyn Fold,
    edge: Edge,
    pub(crate) overlay: Overlay,
    /// Whether leases that are granted are alive from here on.
    live: bool,
}

impl<'a> Refold<'a> {
    /// Where a store stands whose tree has this edge.
    pub(crate) fn new(fold: &'a dyn Fold, edge: Edge) -> Self {
        Self { fold, edge, overlay: Overlay::default(), live: false }
    }

    /// The same, where leases go on.
    pub(crate) fn living(fold: &'a dyn Fold, edge: Edge) -> Self {
        Self { live: true, ..Self::new(fold, edge) }
    }

    /// How many events there were.
    pub(crate) fn size(&self) -> u64 {
        self.edge.size()
    }

    /// Adds what follows from the next event, whose leaf of the tree this is. What a newer version meant by its facts is
    /// not guessed.
    pub(crate) fn add(&mut self, store: &mut dyn Store, event: &Event<'_>, leaf: Hash) -> Result<()> {
        let known = self.fold.version(event.kind);
        if event.v > known {
            return Err(Error::Unreadable(format!(
                "event {} is a `{}` of version {}, and this binary knows version {known}; use a newer countersign",
                event.seq, event.kind, event.v
            )));
        }
        let Self { fold, edge, overlay, live } = self;
        let mut head = Head::EMPTY;
        let mut transaction = Transaction {
            store,
            fold: *fold,
            project: event.project,
            overlay,
            head: &mut head,
            now: Time(0),
            live: *live,
            healed: Vec::new(),
        };
        transaction.derive(event)?;
        edge.add(leaf, |key, value| overlay.put(key, value));
        Ok(())
    }

    /// The same from an event's row.
    pub(crate) fn add_row(&mut self, store: &mut dyn Store, row: &EventRow) -> Result<()> {
        self.add(store, &read(row)?, leaf(&row.body))
    }

    /// All that was added since the last time, to be written.
    pub(crate) fn take_batch(&mut self) -> Batch {
        let hot = self.overlay.take_hot();
        let batch = std::mem::replace(&mut self.overlay, Overlay::knowing(hot, None)).into_batch().1;
        // No command has looked for the keys that are in the log.
        Batch { has_new_keys: false, ..batch }
    }

    /// That was written. What it made of entities and leases need not be read again.
    pub(crate) fn written(&mut self, batch: Batch) {
        let mut hot = self.overlay.take_hot();
        hot.follow(Arc::new(batch));
        self.overlay = Overlay::knowing(hot, None);
    }

    /// Writes all that was added since the last time.
    pub(crate) fn write(&mut self, store: &mut dyn Store) -> Result<()> {
        let batch = self.take_batch();
        store.apply(&batch)?;
        self.written(batch);
        Ok(())
    }
}

/// The event of a row. Nearly all are in the one form that they may have, and are read faster for it.
pub(crate) fn read(row: &EventRow) -> Result<Event<'_>> {
    let damaged = |why| Error::Damaged(format!("event {} cannot be read: {why}", row.seq));
    strict::event(&row.body).map_or_else(|| Event::read(&row.body).map_err(damaged), Ok)
}
