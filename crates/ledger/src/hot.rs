//! Entities that need not be read again: what this process has written last.
//!
//! An entity is what the events up to the end of the log have made of it, so whoever wrote the last of them knows it. Once
//! the log ends elsewhere than where this process left it, somebody else has written, and nothing is known any more.

use crate::rows::{RowKey, RowValue};
use crate::store::{Batch, Head};
use std::collections::HashMap;

/// How much is kept, in bytes of facts and in rows.
const BYTES_MAX: usize = 8 * 1024 * 1024;
const ROWS_MAX: usize = 16 * 1024;

/// Entities as they stand at the end of the log.
#[derive(Default)]
pub(crate) struct Hot {
    head: Option<Head>,
    rows: HashMap<RowKey, Option<RowValue>>,
    bytes: usize,
}

impl Hot {
    /// What is known where the log ends here.
    pub(crate) fn at(self, head: Head) -> Self {
        if self.head == Some(head) { self } else { Self { head: Some(head), ..Self::default() } }
    }

    /// What is known of a row; `Some(None)`, if it is not there.
    pub(crate) fn get(&self, key: &RowKey) -> Option<&Option<RowValue>> {
        self.rows.get(key)
    }

    /// Goes along with a commit, after which the log ends at `head`.
    pub(crate) fn follow(&mut self, batch: Batch, head: Head) {
        self.head = Some(head);
        let gone = batch.delete.into_iter().map(|key| (key, None));
        let there = batch.put.into_iter().map(|(key, value)| (key, Some(value)));
        for (key, value) in gone.chain(there).filter(|(key, _)| matches!(key, RowKey::Entity(_))) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::rows::{Entity, Key};

    fn batch(id: &str, facts: &str) -> Batch {
        let key = Key::new("counter", id);
        let [matter, class] = ["main", "internal"].map(str::to_owned);
        let facts = facts.to_owned();
        let entity = Entity { key: key.clone(), seq: 1, version: 1, birth: 1, shape: 1, matter, class, facts };
        Batch { put: vec![(RowKey::Entity(key), RowValue::Entity(entity))], ..Batch::default() }
    }

    #[test]
    fn what_was_written_is_known_until_the_log_ends_elsewhere() {
        let head = |seq| Head { seq, hash: Hash::of(&[seq as u8]) };
        let key = RowKey::Entity(Key::new("counter", "a"));
        let mut hot = Hot::default().at(head(0));
        hot.follow(batch("a", "{}"), head(1));
        let mut hot = hot.at(head(1));
        assert!(matches!(hot.get(&key), Some(Some(_))));
        hot.follow(Batch { delete: vec![key.clone()], ..Batch::default() }, head(2));
        assert_eq!(hot.get(&key), Some(&None), "that it is gone is known as well");
        assert_eq!(hot.at(head(3)).get(&key), None, "somebody else wrote");
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let mut hot = Hot::default();
        for seq in 0..40 {
            hot.follow(batch("a", &"x".repeat(1024 * 1024)), Head { seq, hash: Hash::NONE });
            assert!(hot.bytes <= BYTES_MAX);
        }
        for seq in 0..40_000 {
            hot.follow(batch(&seq.to_string(), "{}"), Head { seq, hash: Hash::NONE });
            assert!(hot.rows.len() <= ROWS_MAX);
        }
    }
}
