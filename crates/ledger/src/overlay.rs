//! What a transaction has changed and the store does not know yet.
//!
//! Commands that share a commit see each other's changes here, and one that is refused takes back only its own. The
//! store is written to when all are through, or beside them, part by part. Where the commit before is still under way, its
//! changes lie between these and the store: whether that has them yet or not, what is seen is the same.

use crate::error::Result;
use crate::hot::{Hashing, Hot};
use crate::rows::{Entity, EventRow, Row, RowKey, RowValue, TextRow};
use crate::store::{Batch, Store};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Overlay {
    changed: Changed,
    /// What the commit before has changed, if that is still under way.
    earlier: Option<Earlier>,
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
    ahead: HashMap<RowKey, Option<RowValue>, Hashing>,
    /// Entities and leases that are known without reading.
    hot: Hot,
}

/// Rows that were changed, and what became of them.
#[derive(Default)]
struct Changed {
    /// Where each row stands among the changes, of tables whose ranges are asked for.
    ordered: BTreeMap<RowKey, usize>,
    /// The same of all other tables. Most rows are of those, and to keep them in order would be most of the work.
    others: HashMap<RowKey, usize, Hashing>,
    changes: Vec<Change>,
}

/// Whether ranges of a row's table are asked for.
fn is_ordered(key: &RowKey) -> bool {
    matches!(key, RowKey::Index(..) | RowKey::Due(..))
}

impl Changed {
    fn at(&self, key: &RowKey) -> Option<usize> {
        if is_ordered(key) { self.ordered.get(key) } else { self.others.get(key) }.copied()
    }

    /// What became of a row, if anything did.
    fn get(&self, key: &RowKey) -> Option<Option<&RowValue>> {
        self.at(key).map(|at| self.changes[at].now.as_ref())
    }

    fn add(&mut self, key: RowKey, change: Change) {
        let at = self.changes.len();
        if is_ordered(&key) {
            self.ordered.insert(key, at)
        } else {
            self.others.insert(key, at)
        };
        self.changes.push(change);
    }

    /// What became of the rows of a range, in any order.
    fn range<'a>(&'a self, from: &RowKey, to: Option<&RowKey>) -> Vec<(&'a RowKey, Option<&'a RowValue>)> {
        let table = from.table();
        let inside = |key: &RowKey| key.table() == table && key >= from && to.is_none_or(|to| key < to);
        let now = |(key, at): (&'a RowKey, &usize)| (key, self.changes[*at].now.as_ref());
        if is_ordered(from) {
            return self.ordered.range(from..).take_while(|(key, _)| inside(key)).map(now).collect();
        }
        self.others.iter().filter(|(key, _)| inside(key)).map(now).collect()
    }

    /// Rows whose last change is to be seen to, in the order of their keys, which is the order in which a tree of pages takes
    /// them best.
    fn in_order(&self, is_meant: impl Fn(&Change) -> bool) -> Vec<(&RowKey, &Change)> {
        let all = self.ordered.iter().chain(&self.others).map(|(key, at)| (key, &self.changes[*at]));
        let mut meant: Vec<_> = all.filter(|(_, change)| is_meant(change)).collect();
        meant.sort_unstable_by_key(|(key, _)| *key);
        meant
    }

    /// The same for good.
    fn into_order(self, is_meant: impl Fn(&Change) -> bool) -> Vec<(RowKey, Option<RowValue>)> {
        let mut changes: Vec<_> = self.changes.into_iter().map(|it| is_meant(&it).then_some(it.now)).collect();
        let all = self.ordered.into_iter().chain(self.others);
        let mut meant: Vec<_> = all.filter_map(|(key, at)| changes[at].take().map(|now| (key, now))).collect();
        meant.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        meant
    }
}

/// What a commit has changed that is under way.
pub(crate) struct Earlier {
    changed: Changed,
    written: Vec<Arc<Batch>>,
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
    /// Over a store of which something is known, and which does not have what the commit before has changed, or not yet.
    pub(crate) fn knowing(hot: Hot, earlier: Option<Earlier>) -> Self {
        Self { hot, earlier, ..Self::default() }
    }

    /// An event that the store may not have yet.
    pub(crate) fn event(&self, seq: u64) -> Option<&EventRow> {
        self.unseen_events().find(|row| row.seq == seq)
    }

    /// Every event that the store may not have yet.
    pub(crate) fn unseen_events(&self) -> impl Iterator<Item = &EventRow> {
        let earlier = self.earlier.iter().flat_map(|it| &it.written).flat_map(|part| &part.events);
        earlier.chain(self.all_events())
    }

    /// Every event of this commit.
    pub(crate) fn all_events(&self) -> impl Iterator<Item = &EventRow> {
        self.parts.iter().flat_map(|part| &part.events).chain(&self.events)
    }

    /// Makes room for what some commands will change, about.
    pub(crate) fn make_room(&mut self, commands: usize) {
        const ROWS_EACH: usize = 6;
        self.changed.changes.reserve(ROWS_EACH * commands);
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
        let (Changed { ordered, others, changes }, mark) = (&mut self.changed, self.marks);
        let mut stays = |at: usize| match &mut changes[at] {
            Change { mark: last, .. } if *last < mark => true,
            Change { before: None, .. } => false,
            change => {
                if let Some(before) = change.before.take() {
                    (change.now, change.mark) = (before.was, before.mark);
                }
                true
            }
        };
        ordered.retain(|_, at| stays(*at));
        others.retain(|_, at| stays(*at));
    }

    pub(crate) fn put(&mut self, key: RowKey, value: RowValue) {
        self.change(key, Some(value));
    }

    pub(crate) fn delete(&mut self, key: RowKey) {
        self.change(key, None);
    }

    fn change(&mut self, key: RowKey, now: Option<RowValue>) {
        let mark = self.marks;
        let Some(at) = self.changed.at(&key) else {
            return self.changed.add(key, Change { now, mark, before: None });
        };
        let change = &mut self.changed.changes[at];
        // A row of an index is put where none is: if it was not taken away here, the store does not have it.
        if now.is_some() && change.now.is_none() && matches!(key, RowKey::Index(..)) {
            self.returning.push(key);
        }
        let last = std::mem::replace(&mut change.now, now);
        // What the same command had done before is nothing to go back to.
        if change.mark < mark {
            change.before = Some(Box::new(Before { was: last, mark: change.mark }));
            change.mark = mark;
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
        let earlier = || self.earlier.as_ref().and_then(|it| it.changed.get(key));
        let changed = self.changed.get(key).or_else(earlier);
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
        let earlier = self.earlier.iter().flat_map(|it| it.changed.range(from, to));
        let changes: Vec<_> = earlier.chain(self.changed.range(from, to)).collect();
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
        let part = Arc::new(self.unwritten());
        // What changes from here on is not among it, whoever changes it.
        self.given = self.marks;
        self.marks += 1;
        self.parts.push(Arc::clone(&part));
        part
    }

    /// What has changed since the last part.
    fn unwritten(&mut self) -> Batch {
        let (events, texts) = (std::mem::take(&mut self.events), std::mem::take(&mut self.texts));
        let mut part = Batch { events, texts, has_new_keys: true, ..Batch::default() };
        let is_first = self.parts.is_empty();
        for (key, change) in self.changed.in_order(|change| is_first || change.mark > self.given) {
            match &change.now {
                Some(value) => part.put.push((key.clone(), value.clone())),
                None => part.delete.push(key.clone()),
            }
        }
        part
    }

    /// What was given out, and everything else as one batch.
    pub(crate) fn into_batch(self) -> (Vec<Arc<Batch>>, Batch) {
        let (events, texts, erase) = (self.events, self.texts, self.erase);
        let mut batch = Batch { events, texts, erase, has_new_keys: true, ..Batch::default() };
        batch.returning = Some(self.returning);
        let is_first = self.parts.is_empty();
        for (key, now) in self.changed.into_order(|change| is_first || change.mark > self.given) {
            match now {
                Some(value) => batch.put.push((key, value)),
                None => batch.delete.push(key),
            }
        }
        (self.parts, batch)
    }

    /// The same, and what is to be known of it as long as the store may not have it.
    pub(crate) fn hand_over(mut self) -> (Vec<Arc<Batch>>, Arc<Batch>, Earlier) {
        let mut batch = self.unwritten();
        (batch.erase, batch.returning) = (self.erase, Some(self.returning));
        let batch = Arc::new(batch);
        let written = self.parts.iter().chain([&batch]).cloned().collect();
        (self.parts, batch, Earlier { changed: self.changed, written })
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
