//! What the events make of everything that is derived, in a store of its own, to be compared with what is there.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::fold::Fold;
use crate::hash::Hash;
use crate::ledger::PAGE_EVENTS;
use crate::refold::Refold;
use crate::sqlite::Sqlite;
use crate::store::{Head, Store};
use crate::tree::Edge;

/// A store that is gone afterwards, in a transaction that is never committed.
pub(crate) struct Scratch<'a> {
    pub(crate) store: Sqlite,
    refold: Refold<'a>,
}

impl<'a> Scratch<'a> {
    pub(crate) fn begin(fold: &'a dyn Fold) -> Result<Self> {
        let mut store = Sqlite::scratch()?;
        store.begin()?;
        Ok(Self { store, refold: Refold::new(fold, Edge::default()) })
    }

    /// Adds what follows from the next event, whose leaf of the tree this is.
    pub(crate) fn add(&mut self, event: &Event<'_>, leaf: Hash) -> Result<()> {
        self.refold.add(&mut self.store, event, leaf)
    }

    /// Writes what was added, so that it is not all in memory.
    pub(crate) fn write(&mut self) -> Result<()> {
        self.refold.write(&mut self.store)
    }

    /// Goes on to where a log ends.
    pub(crate) fn catch_up(&mut self, log: &mut dyn Store, head: Head) -> Result<()> {
        while self.refold.size() < head.seq {
            let first = self.refold.size() + 1;
            let page = log.events(first, None, PAGE_EVENTS)?;
            if page.is_empty() {
                return Err(Error::Damaged(format!("event {first} is missing")));
            }
            page.iter().try_for_each(|row| self.refold.add_row(&mut self.store, row))?;
            self.write()?;
        }
        Ok(())
    }
}
