//! Going through everything, a page at a time, so that memory stays flat and no read transaction lives long.

use crate::chain::Hashes;
use crate::error::{Error, Result};
use crate::ledger::PAGE_EVENTS;
use crate::rows::{EventRow, Row, Table};
use crate::store::Store;
use std::sync::mpsc::{TrySendError, sync_channel};

/// How many bytes of bodies and texts are read at once, about.
pub const PAGE_BYTES: u64 = 8 * 1024 * 1024;

/// How many of the events from `from` to `to`, both inclusive, are read at once: as many as are in a page and have no more
/// than [`PAGE_BYTES`], but one at least.
pub fn size(store: &mut dyn Store, from: u64, to: u64) -> Result<usize> {
    let limit = usize::try_from(to.saturating_sub(from).saturating_add(1)).unwrap_or(PAGE_EVENTS).min(PAGE_EVENTS);
    Ok(fitting(&store.sizes(from, limit)?, PAGE_BYTES).unwrap_or(limit))
}

/// How many have no more than so many bytes together, but one at least; nothing, if all have.
pub(crate) fn fitting(sizes: &[u64], bytes_max: u64) -> Option<usize> {
    let mut bytes = 0;
    let too_many = sizes.iter().position(|size| {
        bytes += size;
        bytes > bytes_max
    });
    too_many.map(|fitting| fitting.max(1))
}

/// Hands out the events from `from` to `to`, both inclusive, in order.
pub fn events(store: &mut dyn Store, from: u64, to: u64, each: &mut dyn FnMut(EventRow) -> Result<()>) -> Result<()> {
    let mut next = from;
    while let Some(page) = page(store, &mut next, to)? {
        page.into_iter().try_for_each(&mut *each)?;
    }
    Ok(())
}

/// The same with the hashes of each, which are made beside whoever looks at them, as is the reading. How much of that is done
/// there is for the one to say who waits for the other.
pub fn hashed(
    store: &mut dyn Store,
    from: u64,
    to: u64,
    each: &mut dyn FnMut(EventRow, Hashes) -> Result<()>,
) -> Result<()> {
    let mut next = from;
    let read = || page(store, &mut next, to).map(|page| page.map(Hashed::of)).transpose();
    let all = ahead(read, Hashed::add_leaves, |Hashed { page, hashes }| {
        page.into_iter().zip(hashes).try_for_each(|(row, hashes)| each(row, hashes)).map(|()| true)
    });
    all.map(drop)
}

/// Events with their hashes.
pub(crate) struct Hashed {
    pub(crate) page: Vec<EventRow>,
    pub(crate) hashes: Vec<Hashes>,
}

impl Hashed {
    pub(crate) fn of(page: Vec<EventRow>) -> Self {
        let hashes = page.iter().map(|row| Hashes::of(&row.body)).collect();
        Self { page, hashes }
    }

    /// Makes the leaves, which whoever looks at the events would have to make otherwise.
    pub(crate) fn add_leaves(&mut self) {
        for (row, hashes) in self.page.iter().zip(&mut self.hashes) {
            hashes.leaf(&row.body);
        }
    }
}

/// Reads one thing after the other in a thread, until there is nothing more, while something is done with what was read
/// before. That may end it; says whether it did not. If the thread is ahead, it does more of the work.
pub(crate) fn ahead<T: Send>(
    mut read: impl FnMut() -> Option<Result<T>> + Send,
    mut meanwhile: impl FnMut(&mut T) + Send,
    mut each: impl FnMut(T) -> Result<bool>,
) -> Result<bool> {
    std::thread::scope(|scope| {
        // One is read while another waits and a third is looked at, however fast that goes.
        let (give, taken) = sync_channel(1);
        let reading = move || {
            while let Some(it) = read() {
                let mut it = match give.try_send(it) {
                    Ok(()) => continue,
                    Err(TrySendError::Full(it)) => it,
                    Err(TrySendError::Disconnected(_)) => return,
                };
                it.iter_mut().for_each(&mut meanwhile);
                if give.send(it).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("ledger-pages".to_owned())
            .spawn_scoped(scope, reading)
            .map_err(|error| Error::Unreadable(format!("no thread can be had to read with: {error}")))?;
        for it in taken {
            if !each(it?)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// The events from `next` to `to` that are read at once; `next` goes behind them.
pub(crate) fn page(store: &mut dyn Store, next: &mut u64, to: u64) -> Result<Option<Vec<EventRow>>> {
    if *next > to {
        return Ok(None);
    }
    let limit = usize::try_from(to - *next).map_or(PAGE_EVENTS, |it| it.saturating_add(1).min(PAGE_EVENTS));
    let page = store.events_within(*next, limit, PAGE_BYTES)?;
    *next = page.last().map_or(*next, |last| last.seq + 1);
    Ok(Some(page).filter(|page| !page.is_empty()))
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
