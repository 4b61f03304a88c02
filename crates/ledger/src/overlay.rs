//! What a transaction has changed and the store does not know yet.
//!
//! Commands that share a commit see each other's changes here, and one that is refused takes back only its own. The
//! store is written to once, when all are through, or in a few parts while others still come.

use crate::error::Result;
use crate::past::Past;
use crate::rows::{EventRow, Row, RowKey, RowValue, TextRow};
use crate::store::Batch;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Overlay {
    /// What the commands before the last mark have changed.
    rows: BTreeMap<RowKey, Option<RowValue>>,
    /// What was changed since, which can be taken back.
    fresh: BTreeMap<RowKey, Option<RowValue>>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) texts: Vec<TextRow>,
    pub(crate) erase: Vec<(u64, u32)>,
    /// What was handed over to be written, oldest first.
    handed: Vec<Arc<Batch>>,
    /// Rows of the store that were read ahead, for all commands of a commit at once.
    ahead: HashMap<RowKey, Option<RowValue>>,
}

/// How far an overlay had come.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    events: usize,
    texts: usize,
    erase: usize,
}

impl Overlay {
    /// The point to which a refused command is taken back.
    pub(crate) fn mark(&mut self) -> Mark {
        self.keep();
        Mark { events: self.events.len(), texts: self.texts.len(), erase: self.erase.len() }
    }

    pub(crate) fn take_back(&mut self, mark: Mark) {
        self.events.truncate(mark.events);
        self.texts.truncate(mark.texts);
        self.erase.truncate(mark.erase);
        self.fresh.clear();
    }

    /// From here on, what is fresh is not taken back.
    fn keep(&mut self) {
        if self.rows.is_empty() {
            std::mem::swap(&mut self.rows, &mut self.fresh);
        } else {
            self.rows.extend(std::mem::take(&mut self.fresh));
        }
    }

    pub(crate) fn put(&mut self, key: RowKey, value: RowValue) {
        self.fresh.insert(key, Some(value));
    }

    pub(crate) fn delete(&mut self, key: RowKey) {
        self.fresh.insert(key, None);
    }

    /// Reads the rows of some keys ahead: one round trip instead of one for each command.
    pub(crate) fn read_ahead(&mut self, past: &dyn Past, keys: Vec<RowKey>) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let rows = past.get(&keys)?;
        self.ahead.extend(keys.into_iter().zip(rows));
        Ok(())
    }

    /// What is known of a row without asking the store.
    fn known(&self, key: &RowKey) -> Option<Option<&RowValue>> {
        let changed = self.fresh.get(key).or_else(|| self.rows.get(key)).map(Option::as_ref);
        let handed = || self.handed.iter().rev().find_map(|batch| batch.change(key));
        changed.or_else(handed).or_else(|| self.ahead.get(key).map(Option::as_ref))
    }

    /// The rows of some keys: as changed here, else as the store has them.
    pub(crate) fn get(&self, past: &dyn Past, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        let known: Vec<_> = keys.iter().map(|key| self.known(key)).collect();
        let unknown = keys.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<RowKey> = unknown.map(|(key, _)| key.clone()).collect();
        let mut stored = if unknown.is_empty() { Vec::new() } else { past.get(&unknown)? }.into_iter();
        let one = |known: Option<Option<&RowValue>>| match known {
            Some(known) => known.cloned(),
            None => stored.next().flatten(),
        };
        Ok(known.into_iter().map(one).collect())
    }

    /// At most `limit` rows of a range, as they are with the changes.
    pub(crate) fn range(&self, past: &dyn Past, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        let table = from.table();
        let inside = |key: &RowKey| key.table() == table && to.is_none_or(|to| key < to);
        // The latest come last, and so over the others.
        let mut changes: Vec<_> = self.handed.iter().flat_map(|batch| batch.changes(from, &inside)).collect();
        for rows in [&self.rows, &self.fresh] {
            let rows = rows.range(from..).take_while(|(key, _)| inside(key));
            changes.extend(rows.map(|(key, change)| (key, change.as_ref())));
        }
        if changes.is_empty() {
            return past.range(from, to, limit);
        }
        // Each change can hide one stored row, so that many more are asked for.
        let stored = past.range(from, to, limit.saturating_add(changes.len()))?;
        let mut merged: BTreeMap<RowKey, RowValue> = stored.into_iter().collect();
        for (key, change) in changes {
            match change {
                Some(value) => merged.insert(key.clone(), value.clone()),
                None => merged.remove(key),
            };
        }
        Ok(merged.into_iter().take(limit).collect())
    }

    /// An event of this commit.
    pub(crate) fn event(&self, seq: u64) -> Option<&EventRow> {
        let handed = self.handed.iter().flat_map(|batch| &batch.events);
        handed.chain(&self.events).find(|row| row.seq == seq)
    }

    /// Whether texts are erased in this commit.
    pub(crate) fn erases(&self) -> bool {
        !self.erase.is_empty() || self.handed.iter().any(|batch| !batch.erase.is_empty())
    }

    /// Whether something was handed over to be written.
    pub(crate) fn was_handed_over(&self) -> bool {
        !self.handed.is_empty()
    }

    /// What was changed since the last time, to be written by somebody else. It is still seen here.
    pub(crate) fn hand_over(&mut self) -> Option<Arc<Batch>> {
        let batch = Arc::new(self.take_batch());
        if batch.is_empty() {
            return None;
        }
        self.handed.push(Arc::clone(&batch));
        Some(batch)
    }

    /// Everything that was not handed over as one batch.
    pub(crate) fn into_batch(mut self) -> Batch {
        self.take_batch()
    }

    /// Rows come out in the order of their keys, which is the order in which a tree of pages takes them best.
    fn take_batch(&mut self) -> Batch {
        use std::mem::take;
        self.keep();
        let (events, texts, erase) = (take(&mut self.events), take(&mut self.texts), take(&mut self.erase));
        let mut batch = Batch { events, texts, erase, ..Batch::default() };
        for (key, change) in take(&mut self.rows) {
            match change {
                Some(value) => batch.put.push((key, value)),
                None => batch.delete.push(key),
            }
        }
        batch
    }
}

impl Batch {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.texts.is_empty()
            && self.put.is_empty()
            && self.delete.is_empty()
            && self.erase.is_empty()
    }
    /// What it changes about a row.
    fn change(&self, key: &RowKey) -> Option<Option<&RowValue>> {
        match self.put.binary_search_by(|(put, _)| put.cmp(key)) {
            Ok(at) => Some(Some(&self.put[at].1)),
            Err(_) => self.delete.binary_search(key).ok().map(|_| None),
        }
    }

    /// What it changes about the rows from one on, as long as they are inside.
    fn changes<'a>(
        &'a self,
        from: &RowKey,
        inside: &impl Fn(&RowKey) -> bool,
    ) -> impl Iterator<Item = (&'a RowKey, Option<&'a RowValue>)> {
        let put = &self.put[self.put.partition_point(|(key, _)| key < from)..];
        let delete = &self.delete[self.delete.partition_point(|key| key < from)..];
        let put = put.iter().take_while(|(key, _)| inside(key)).map(|(key, value)| (key, Some(value)));
        let delete = delete.iter().take_while(|key| inside(key)).map(|key| (key, None));
        put.chain(delete).collect::<Vec<_>>().into_iter()
    }
}
