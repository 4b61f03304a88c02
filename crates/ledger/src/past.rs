//! What commands see of a store from inside of the write transaction.
//!
//! While commands are still decided, another thread may write what those before them have changed. Whoever asks then waits
//! until it is through with its part; what was written is in the overlay as well, so the answer is the same either way.

use crate::error::Result;
use crate::ledger::lock;
use crate::rows::{EventRow, Row, RowKey, RowValue};
use crate::store::{Batch, Store};
use std::sync::Mutex;

/// What can be asked.
pub(crate) trait Past: Sync {
    fn get(&self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>>;
    fn range(&self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>>;
    fn events(&self, from: u64, limit: usize) -> Result<Vec<EventRow>>;
}

/// A store in a transaction, for one who asks and one who writes.
pub(crate) struct Shared<'a>(Mutex<&'a mut dyn Store>);

impl<'a> Shared<'a> {
    pub(crate) fn of(store: &'a mut dyn Store) -> Self {
        Self(Mutex::new(store))
    }

    pub(crate) fn apply(&self, batch: &Batch) -> Result<()> {
        lock(&self.0).apply(batch)
    }
}

impl Past for Shared<'_> {
    fn get(&self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        lock(&self.0).get(keys)
    }

    fn range(&self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        lock(&self.0).range(from, to, limit)
    }

    fn events(&self, from: u64, limit: usize) -> Result<Vec<EventRow>> {
        lock(&self.0).events(from, None, limit)
    }
}
