//! Going through everything, a page at a time, so that memory stays flat and no read transaction lives long.

use crate::error::{Error, Result};
use crate::ledger::PAGE_EVENTS;
use crate::rows::{EventRow, Row, Table};
use crate::store::Store;
use std::sync::mpsc::sync_channel;

/// How many pages are read while others are worked on.
const PAGES_AHEAD: usize = 2;

/// Hands out the events from `from` to `to`, both inclusive, in order. What lies beyond a page is read in another thread
/// while this one works.
pub fn events(store: &mut dyn Store, from: u64, to: u64, each: &mut dyn FnMut(EventRow) -> Result<()>) -> Result<()> {
    let first = page(store, from, to)?;
    let Some(last) = first.last().map(|event| event.seq) else { return Ok(()) };
    if last >= to {
        return first.into_iter().try_for_each(each);
    }
    std::thread::scope(|scope| {
        let (pages, read) = sync_channel(PAGES_AHEAD);
        let ahead = move || {
            let mut next = last + 1;
            loop {
                let page = page(store, next, to);
                let last = page.as_ref().ok().and_then(|page| page.last()).map(|event| event.seq);
                // Whoever listens no more has found what was looked for.
                if pages.send(page).is_err() {
                    return;
                }
                match last {
                    Some(last) if last < to => next = last + 1,
                    _ => return,
                }
            }
        };
        let thread = std::thread::Builder::new().name("pages".to_owned()).spawn_scoped(scope, ahead);
        thread.map_err(|error| Error::Unreadable(format!("no thread can be had: {error}")))?;
        first.into_iter().try_for_each(&mut *each)?;
        for page in read {
            page?.into_iter().try_for_each(&mut *each)?;
        }
        Ok(())
    })
}

fn page(store: &mut dyn Store, from: u64, to: u64) -> Result<Vec<EventRow>> {
    if from > to {
        return Ok(Vec::new());
    }
    let limit = usize::try_from(to - from + 1).unwrap_or(PAGE_EVENTS).min(PAGE_EVENTS);
    store.events(from, None, limit)
}

/// Hands out all rows of a table, in the order of their keys.
pub fn rows(store: &mut dyn Store, table: Table, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<()> {
    let mut pages = Rows::new(table);
    while let Some(row) = pages.next(store)? {
        each(row)?;
    }
    Ok(())
}

/// The rows of a table one after the other, read in pages.
pub struct Rows {
    page: std::vec::IntoIter<Row>,
    from: Option<crate::rows::RowKey>,
    skip: bool,
}

impl Rows {
    /// From the first row of a table.
    pub fn new(table: Table) -> Self {
        Self { page: Vec::new().into_iter(), from: Some(table.first()), skip: false }
    }

    /// The next row, or nothing at the end.
    pub fn next(&mut self, store: &mut dyn Store) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.page.next() {
                return Ok(Some(row));
            }
            let Some(from) = self.from.take() else { return Ok(None) };
            let page = store.range(&from, None, PAGE_EVENTS)?;
            // A page begins where the last one ended, with the row that is known already.
            let full = page.len() == PAGE_EVENTS;
            let last = page.last().map(|(key, _)| key.clone());
            let known = usize::from(self.skip && page.first().is_some_and(|(key, _)| *key == from));
            self.page = page.into_iter();
            if known == 1 {
                self.page.next();
            }
            self.skip = true;
            self.from = last.filter(|_| full);
        }
    }
}
