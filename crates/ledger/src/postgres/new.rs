//! Which rows are known not to be there: under the lock, whoever looked and found nothing knows it until it writes.
//!
//! The server adds such a row at about half the cost of one that may be there. Nothing rests on it: a row that is there
//! all the same is refused by its key, and with it the transaction.

use super::fault::Fault;
use crate::rows::{Row, RowKey, RowValue};
use crate::store::Batch;
use std::collections::HashSet;
use tokio_postgres::error::SqlState;

#[derive(Default)]
pub(super) struct New {
    /// Idempotency keys that were looked up in this transaction and have not been used.
    unused: HashSet<RowKey>,
    /// A row was there that could not be. From then on this handle takes nothing for new.
    wary: bool,
}

impl New {
    /// A transaction begins, and nothing was seen in it.
    pub(super) fn begin(&mut self) {
        self.unused.clear();
    }

    /// Some rows were looked up.
    pub(super) fn seen(&mut self, keys: &[RowKey], found: &[Option<RowValue>]) {
        let missing = keys.iter().zip(found).filter(|(key, found)| is_kept(key) && found.is_none());
        self.unused.extend(missing.map(|(key, _)| key.clone()));
    }

    /// Which rows of a batch, which is about to be written, are new. Each is so once.
    pub(super) fn rows(&mut self, batch: &Batch) -> Vec<bool> {
        let events = batch.events.first().map(|it| it.seq)..=batch.events.last().map(|it| it.seq);
        let (wary, unused) = (self.wary, &mut self.unused);
        let is_new = |(key, _): &Row| match key {
            _ if wary => false,
            // That an event has touched something is written with the event.
            RowKey::Touch(seq, _) => events.contains(&Some(*seq)),
            RowKey::Index(..) => batch.returning.as_ref().is_some_and(|returning| !returning.contains(key)),
            key => is_kept(key) && unused.remove(key),
        };
        batch.put.iter().map(is_new).collect()
    }

    /// A batch was refused.
    pub(super) fn refused(&mut self, fault: &Fault) {
        self.wary |= matches!(fault, Fault::Refused(state, _) if *state == SqlState::UNIQUE_VIOLATION);
    }
}

fn is_kept(key: &RowKey) -> bool {
    matches!(key, RowKey::Remembered(_))
}
