//! Entities and leases that need not be read again: what this process has written last.
//!
//! Each is what the events up to the end of the log have made of it, so whoever wrote the last of them knows it. Once
//! the log ends elsewhere than where this process left it, somebody else has written, and this is thrown away.

use crate::rows::{RowKey, RowValue};
use crate::store::Batch;
use std::collections::HashMap;
use std::sync::Arc;

/// How much is kept, in bytes of facts and in rows.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const ROWS_MAX: usize = 16 * 1024;

/// How rows are found by their keys in memory. It is seeded anew in each process, so that nobody can choose keys which fall
/// together.
pub(crate) type Hashing = foldhash::quality::RandomState;

/// Entities and leases as they stand at the end of the log.
#[derive(Default)]
pub(crate) struct Hot {
    rows: HashMap<RowKey, Option<RowValue>, Hashing>,
    bytes: usize,
}

impl Hot {
    /// What is known of a row; `Some(None)`, if it is not there.
    pub(crate) fn get(&self, key: &RowKey) -> Option<&Option<RowValue>> {
        if is_kept(key) { self.rows.get(key) } else { None }
    }

    /// Goes along with a commit. Of what somebody else still needs, only what is kept is copied.
    pub(crate) fn follow(&mut self, batch: Arc<Batch>) {
        let (put, delete) = match Arc::try_unwrap(batch) {
            Ok(batch) => (batch.put, batch.delete),
            Err(batch) => {
                let put = batch.put.iter().filter(|(key, _)| is_kept(key)).cloned().collect();
                (put, batch.delete.iter().filter(|key| is_kept(key)).cloned().collect())
            }
        };
        let gone = delete.into_iter().map(|key| (key, None));
        let there = put.into_iter().map(|(key, value)| (key, Some(value)));
        for (key, value) in gone.chain(there).filter(|(key, _)| is_kept(key)) {
            if let Some(RowValue::Entity(entity)) = &value {
                self.bytes += entity.facts.len();
            }
            self.rows.insert(key, value);
        }
        if self.bytes > BYTES_MAX || self.rows.len() > ROWS_MAX {
            self.rows.clear();
            self.bytes = 0;
        }
    }
}

/// Whether rows of this kind follow from events alone. How fresh a lease is does not: others say so without writing an event.
fn is_kept(key: &RowKey) -> bool {
    matches!(key, RowKey::Entity(_) | RowKey::Lease(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{Entity, Key};

    fn batch(id: &str, facts: &str) -> Arc<Batch> {
        let key = Key::new("counter", id);
        let [matter, class] = ["main", "internal"].map(Into::into);
        let facts = facts.into();
        let entity = Entity { key: key.clone(), seq: 1, version: 1, birth: 1, shape: 1, matter, class, facts };
        Arc::new(Batch { put: vec![(RowKey::Entity(key), RowValue::Entity(entity))], ..Batch::default() })
    }

    #[test]
    fn what_was_written_is_known_and_what_was_deleted_is_known_to_be_gone() {
        let key = RowKey::Entity(Key::new("counter", "a"));
        let mut hot = Hot::default();
        assert_eq!(hot.get(&key), None);
        hot.follow(batch("a", "{}"));
        assert!(matches!(hot.get(&key), Some(Some(_))));
        // Also if somebody else has it.
        let shared = batch("b", "{}");
        hot.follow(Arc::clone(&shared));
        assert_eq!(hot.get(&shared.put[0].0), Some(&Some(shared.put[0].1.clone())));
        hot.follow(Arc::new(Batch { delete: vec![key.clone()], ..Batch::default() }));
        assert_eq!(hot.get(&key), Some(&None));
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let mut hot = Hot::default();
        for _ in 0..40 {
            hot.follow(batch("a", &"x".repeat(1024 * 1024)));
            assert!(hot.bytes <= BYTES_MAX);
        }
        for id in 0..40_000 {
            hot.follow(batch(&id.to_string(), "{}"));
            assert!(hot.rows.len() <= ROWS_MAX);
        }
    }
}
