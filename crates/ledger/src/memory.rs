//! A store that lives as long as the process: for tests and simulations, and as the plainest statement of what a store is.
//! A transaction works on a copy of everything, so it is for small logs.

use crate::erasure;
use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::rows::{EventRow, Row, RowKey, RowValue, Table, TextRow};
use crate::store::{Batch, Begun, Head, Store};
use crate::time::Clock;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default, Clone)]
struct Tables {
    events: Vec<EventRow>,
    ids: HashMap<String, u64>,
    texts: BTreeMap<(u64, u32), TextRow>,
    rows: BTreeMap<RowKey, RowValue>,
}

struct Shared {
    tables: Mutex<Tables>,
    grown: Condvar,
    /// Whether somebody writes.
    taken: Mutex<bool>,
    free: Condvar,
}

/// Rows in memory. Handles made by [`Store::another`] share them.
pub struct Memory {
    shared: Arc<Shared>,
    clock: Clock,
    /// The tables as the transaction under way will leave them.
    draft: Option<Tables>,
    writing: bool,
}

impl Memory {
    /// An empty store.
    pub fn new(clock: Clock) -> Self {
        let shared =
            Shared { tables: Mutex::default(), grown: Condvar::new(), taken: Mutex::new(false), free: Condvar::new() };
        Self { shared: Arc::new(shared), clock, draft: None, writing: false }
    }

    /// Looks at the tables, inside of the transaction if there is one.
    fn look<T>(&self, look: impl FnOnce(&Tables) -> T) -> Result<T> {
        Ok(match &self.draft {
            Some(draft) => look(draft),
            None => look(&lock(&self.shared.tables)),
        })
    }

    fn leave(&mut self) {
        self.draft = None;
        if std::mem::take(&mut self.writing) {
            *lock(&self.shared.taken) = false;
            self.shared.free.notify_one();
        }
    }
}

impl Tables {
    fn head(&self) -> Head {
        self.events.last().map_or(Head::EMPTY, |event| Head { seq: event.seq, hash: event.hash })
    }

    /// Why a batch cannot be taken.
    fn fault(&self, batch: &Batch) -> Option<String> {
        let mut new = HashSet::new();
        for (next, event) in (self.head().seq + 1..).zip(&batch.events) {
            if event.seq != next || self.ids.contains_key(&event.id) || !new.insert(&event.id) {
                return Some(format!("event {} or its id is there already, or one is missing before it", event.seq));
            }
        }
        None
    }
}

impl Store for Memory {
    fn begin(&mut self) -> Result<Begun> {
        self.begin_within(Duration::MAX)
    }

    fn begin_within(&mut self, patience: Duration) -> Result<Begun> {
        self.leave();
        let waited = self.shared.free.wait_timeout_while(lock(&self.shared.taken), patience, |taken| *taken);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken {
            return Err(Error::busy(patience, Some("this process".to_owned())));
        }
        *taken = true;
        drop(taken);
        self.writing = true;
        let tables = lock(&self.shared.tables);
        let from = Table::Meta.first();
        let meta = tables.rows.range(from..).filter_map(|row| match row {
            (RowKey::Meta(name), RowValue::Meta(value)) => Some((name.to_string(), value.clone())),
            _ => None,
        });
        Ok(Begun { head: tables.head(), now: self.clock.now()?, meta: meta.collect() })
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        let tables = self.draft.get_or_insert_with(|| lock(&self.shared.tables).clone());
        if let Some(fault) = tables.fault(batch) {
            self.leave();
            return Err(Error::NotWritten(fault));
        }
        for event in &batch.events {
            tables.ids.insert(event.id.clone(), event.seq);
            tables.events.push(event.clone());
        }
        for text in &batch.texts {
            tables.texts.insert((text.seq, text.n), text.clone());
        }
        for place in &batch.erase {
            if let Some(row) = tables.texts.get_mut(place) {
                row.text = None;
            }
        }
        for key in &batch.delete {
            tables.rows.remove(key);
        }
        for (key, value) in &batch.put {
            tables.rows.insert(key.clone(), value.clone());
        }
        Ok(())
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        let tables = self.draft.get_or_insert_with(|| lock(&self.shared.tables).clone());
        tables.rows.retain(|key, _| key.table() != table);
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if let Some(draft) = self.draft.take() {
            *lock(&self.shared.tables) = draft;
        }
        self.leave();
        Ok(())
    }

    fn rollback(&mut self) {
        self.leave();
    }

    fn settle(&mut self) {
        self.shared.grown.notify_all();
    }

    fn get(&mut self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        self.look(|tables| keys.iter().map(|key| tables.rows.get(key).cloned()).collect())
    }

    fn range(&mut self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        let inside = |key: &RowKey| key.table() == from.table() && to.is_none_or(|to| key < to);
        self.look(|tables| {
            let rows = tables.rows.range(from.clone()..).take_while(|(key, _)| inside(key)).take(limit);
            rows.map(|(key, value)| (key.clone(), value.clone())).collect()
        })
    }

    fn head(&mut self) -> Result<Head> {
        self.look(Tables::head)
    }

    fn events(&mut self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>> {
        let skipped = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        self.look(|tables| {
            let events = tables.events.iter().skip(skipped);
            let wanted = events.filter(|event| run.is_none() || event.run.as_deref() == run);
            wanted.take(limit).cloned().collect()
        })
    }

    fn find(&mut self, id: &str) -> Result<Option<u64>> {
        self.look(|tables| tables.ids.get(id).copied())
    }

    fn texts(&mut self, from: u64, to: u64) -> Result<Vec<TextRow>> {
        self.look(|tables| tables.texts.range((from, 0)..(to.max(from), 0)).map(|(_, row)| row.clone()).collect())
    }

    fn sizes(&mut self, from: u64, limit: usize) -> Result<Vec<u64>> {
        let events = self.events(from, None, limit)?;
        let size = |event: &EventRow| {
            let texts = self.texts(event.seq, event.seq + 1)?;
            let said = texts.iter().filter_map(|row| row.text.as_ref()).map(|text| text.body.len()).sum::<usize>();
            Ok((event.body.len() + said) as u64)
        };
        events.iter().map(size).collect()
    }

    fn another(&self) -> Result<Box<dyn Store>> {
        Ok(Box::new(Self { shared: Arc::clone(&self.shared), clock: self.clock.clone(), draft: None, writing: false }))
    }

    fn wait(&mut self, seq: u64, patience: Duration) -> Result<Head> {
        let until = Instant::now() + patience;
        let mut tables = lock(&self.shared.tables);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if tables.head().seq > seq || left.is_zero() {
                return Ok(tables.head());
            }
            let waited = self.shared.grown.wait_timeout(tables, left.min(Duration::from_secs(1)));
            tables = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Nothing is left of what was erased; only the mark is to go.
    fn scrub(&mut self) -> Result<()> {
        self.leave();
        let mark = erasure::mark(self)?;
        erasure::unmark(self, mark)
    }

    fn backup(&mut self, _to: &Path) -> Result<()> {
        Err(Error::Malformed("a ledger in memory cannot be backed up".to_owned()))
    }

    fn writer(&self) -> Option<String> {
        lock(&self.shared.taken).then(|| "this process".to_owned())
    }

    fn examine(&mut self) -> Result<Vec<String>> {
        Ok(erasure::fault(self).into_iter().collect())
    }

    fn describe(&mut self) -> Result<Vec<(String, String)>> {
        Ok(vec![("store".to_owned(), "memory".to_owned())])
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.leave();
    }
}
