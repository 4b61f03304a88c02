//! Which rows are known not to be there: a command puts its idempotency key in place after it has looked for it and found nothing.
//!
//! The server adds such a row at about half the cost of one that may be there. Nothing rests on it: a row that is there
//! all the same is refused by its key, and with it the transaction.

use super::fault::Fault;
use crate::rows::{Row, RowKey};
use crate::store::Batch;
use tokio_postgres::error::SqlState;

#[derive(Default)]
pub(super) struct New {
    /// A row was there that could not be. From then on this handle takes nothing for new.
    wary: bool,
}

impl New {
    /// Which rows of a batch, which is about to be written, are new.
    pub(super) fn rows(&self, batch: &Batch) -> Vec<bool> {
        let events = batch.events.first().map(|it| it.seq)..=batch.events.last().map(|it| it.seq);
        let is_new = |(key, _): &Row| match key {
            _ if self.wary => false,
            // That an event has touched something is written with the event.
            RowKey::Touch(seq, _) => events.contains(&Some(*seq)),
            RowKey::Index(..) => batch.returning.as_ref().is_some_and(|returning| !returning.contains(key)),
            key => batch.has_new_keys && matches!(key, RowKey::Remembered(_)),
        };
        batch.put.iter().map(is_new).collect()
    }

    /// A batch was refused.
    pub(super) fn refused(&mut self, fault: &Fault) {
        self.wary |= matches!(fault, Fault::Refused(state, _) if *state == SqlState::UNIQUE_VIOLATION);
    }
}
