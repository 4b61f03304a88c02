//! What a transaction has changed and the store does not know yet.
//!
//! Commands that share a commit see each other's changes here, and one that is refused takes back only its own. The
//! store is written to when all are through, or beside them, part by part.

use crate::error::Result;
use crate::hot::Hot;
use crate::rows::{Entity, EventRow, Row, RowKey, RowValue, TextRow};
use crate::store::{Batch, Store};
use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Overlay {
    /// Where each row that was changed stands among the changes. They stand beside it, since a tree moves what is in it.
    rows: BTreeMap<RowKey, usize>,
    changes: Vec<Change>,
    /// How many commands have begun.
    marks: u64,
    /// What was given out to be written already, and how many commands had begun by then.
    parts: Vec<Arc<Batch>>,
    given: u64,
    pub(crate) events: Vec<EventRow>,
    pub(crate) texts: Vec<TextRow>,
    pub(crate) erase: Vec<(u64, u32)>,
    /// Rows of indexes that were taken away and then put again.
    returning: Vec<RowKey>,
    /// Rows of the store that were read before they were asked for.
    ahead: HashMap<RowKey, Option<RowValue>>,
    /// Entities that are known without reading.
    hot: Hot,
}

/// What became of a row.
struct Change {
    now: Option<RowValue>,
    /// The command that changed it last, and how it was before that; nothing, if nobody had changed it.
    mark: u64,
    before: Option<Box<Before>>,
}

/// How a row was before a command changed it, and which command had made it so.
struct Before {
    was: Option<RowValue>,
    mark: u64,
}

/// How far an overlay had come.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    events: usize,
    texts: usize,
    erase: usize,
}

impl Overlay {
    /// Over a store of which something is known.
    pub(crate) fn knowing(hot: Hot) -> Self {
        Self { hot, ..Self::default() }
    }

    /// An event that the store does not have yet.
    pub(crate) fn event(&self, seq: u64) -> Option<&EventRow> {
        self.all_events().find(|row| row.seq == seq)
    }

    /// Every event that the store does not have yet.
    pub(crate) fn all_events(&self) -> impl Iterator<Item = &EventRow> {
        self.parts.iter().flat_map(|part| &part.events).chain(&self.events)
    }

    /// Makes room for what some commands will change, about.
    pub(crate) fn make_room(&mut self, commands: usize) {
        const ROWS_EACH: usize = 6;
        self.changes.reserve(ROWS_EACH * commands);
        self.events.reserve(commands);
    }

    /// Gives back what was known of the store.
    pub(crate) fn take_hot(&mut self) -> Hot {
        std::mem::take(&mut self.hot)
    }

    /// The point to which a refused command is taken back.
    pub(crate) fn mark(&mut self) -> Mark {
        self.marks += 1;
        Mark { events: self.events.len(), texts: self.texts.len(), erase: self.erase.len() }
    }

    pub(crate) fn take_back(&mut self, mark: Mark) {
        self.events.truncate(mark.events);
        self.texts.truncate(mark.texts);
        self.erase.truncate(mark.erase);
        // Few are refused. To look at all changes then is cheaper than to note down those of each command.
        let (changes, mark) = (&mut self.changes, self.marks);
        self.rows.retain(|_, at| match &mut changes[*at] {
            Change { mark: last, .. } if *last < mark => true,
            Change { before: None, .. } => false,
            change => {
                if let Some(before) = change.before.take() {
                    (change.now, change.mark) = (before.was, before.mark);
                }
                true
            }
        });
    }

    /// What became of a row here, if anything did.
    fn changed(&self, key: &RowKey) -> Option<Option<&RowValue>> {
        self.rows.get(key).map(|at| self.changes[*at].now.as_ref())
    }

    pub(crate) fn put(&mut self, key: RowKey, value: RowValue) {
        self.change(key, Some(value));
    }

    pub(crate) fn delete(&mut self, key: RowKey) {
        self.change(key, None);
    }

    fn change(&mut self, key: RowKey, now: Option<RowValue>) {
        let mark = self.marks;
        match self.rows.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(self.changes.len());
                self.changes.push(Change { now, mark, before: None });
            }
            Entry::Occupied(entry) => {
                let change = &mut self.changes[*entry.get()];
                // A row of an index is put where none is: if it was not taken away here, the store does not have it.
                if now.is_some() && change.now.is_none() && matches!(entry.key(), RowKey::Index(..)) {
                    self.returning.push(entry.key().clone());
                }
                let last = std::mem::replace(&mut change.now, now);
                // What the same command had done before is nothing to go back to.
                if change.mark < mark {
                    change.before = Some(Box::new(Before { was: last, mark: change.mark }));
                    change.mark = mark;
                }
            }
        }
    }

    /// Reads the rows of some keys, as far as they are not known: one round trip instead of one for each.
    pub(crate) fn read_ahead(&mut self, store: &mut dyn Store, keys: &[RowKey]) -> Result<()> {
        let keys: Vec<_> = keys.iter().filter(|key| self.known(key).is_none()).cloned().collect();
        if keys.is_empty() {
            return Ok(());
        }
        let rows = store.get(&keys)?;
        self.ahead.extend(keys.into_iter().zip(rows));
        Ok(())
    }

    /// What is known of a row without asking the store.
    fn known(&self, key: &RowKey) -> Option<Option<&RowValue>> {
        let changed = self.changed(key);
        changed.or_else(|| self.ahead.get(key).or_else(|| self.hot.get(key)).map(Option::as_ref))
    }

    /// An entity of those that were read ahead.
    pub(crate) fn entity(&self, key: &RowKey) -> Option<&Entity> {
        match self.known(key) {
            Some(Some(RowValue::Entity(entity))) => Some(entity),
            _ => None,
        }
    }

    /// The row of one key.
    pub(crate) fn one(&self, store: &mut dyn Store, key: &RowKey) -> Result<Option<RowValue>> {
        match self.known(key) {
            Some(known) => Ok(known.cloned()),
            None => Ok(store.get(std::slice::from_ref(key))?.pop().flatten()),
        }
    }

    /// The rows of some keys: as changed here, else as the store has them.
    pub(crate) fn get(&self, store: &mut dyn Store, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        let unknown: Vec<RowKey> = keys.iter().filter(|key| self.known(key).is_none()).cloned().collect();
        let mut stored = if unknown.is_empty() { Vec::new() } else { store.get(&unknown)? }.into_iter();
        let one = |key| match self.known(key) {
            Some(known) => known.cloned(),
            None => stored.next().flatten(),
        };
        Ok(keys.iter().map(one).collect())
    }

    /// At most `limit` rows of a range, as they are with the changes.
    pub(crate) fn range(
        &self,
        store: &mut dyn Store,
        from: &RowKey,
        to: Option<&RowKey>,
        limit: usize,
    ) -> Result<Vec<Row>> {
        let table = from.table();
        let inside = |key: &RowKey| key.table() == table && to.is_none_or(|to| key < to);
        let changes = self.rows.range(from..).take_while(|(key, _)| inside(key));
        let changes: Vec<_> = changes.map(|(key, at)| (key, self.changes[*at].now.as_ref())).collect();
        if changes.is_empty() {
            return store.range(from, to, limit);
        }
        // Each change can hide one stored row, so that many more are asked for.
        let stored = store.range(from, to, limit.saturating_add(changes.len()))?;
        let mut merged: BTreeMap<RowKey, RowValue> = stored.into_iter().collect();
        for (key, change) in changes {
            match change {
                Some(value) => merged.insert(key.clone(), value.clone()),
                None => merged.remove(key),
            };
        }
        Ok(merged.into_iter().take(limit).collect())
    }

    /// What has changed since the last part, to be written while more is decided. What is erased waits for the end: it must
    /// have been written before.
    pub(crate) fn part(&mut self) -> Arc<Batch> {
        let (events, texts) = (std::mem::take(&mut self.events), std::mem::take(&mut self.texts));
        let mut part = Batch { events, texts, ..Batch::default() };
        let changed = self.rows.iter().map(|(key, at)| (key, &self.changes[*at]));
        for (key, change) in changed.filter(|(_, change)| change.mark > self.given) {
            match &change.now {
                Some(value) => part.put.push((key.clone(), value.clone())),
                None => part.delete.push(key.clone()),
            }
        }
        // What changes from here on is not among it, whoever changes it.
        self.given = self.marks;
        self.marks += 1;
        let part = Arc::new(part);
        self.parts.push(Arc::clone(&part));
        part
    }

    /// What was given out, and everything else as one batch. Rows come out in the order of their keys, which is the order in
    /// which a tree of pages takes them best.
    pub(crate) fn into_batch(mut self) -> (Vec<Arc<Batch>>, Batch) {
        let mut batch = Batch { events: self.events, texts: self.texts, erase: self.erase, ..Batch::default() };
        batch.returning = Some(self.returning);
        for (key, at) in self.rows {
            let change = &mut self.changes[at];
            if change.mark <= self.given && !self.parts.is_empty() {
                continue;
            }
            match change.now.take() {
                Some(value) => batch.put.push((key, value)),
                None => batch.delete.push(key),
            }
        }
        (self.parts, batch)
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
}
