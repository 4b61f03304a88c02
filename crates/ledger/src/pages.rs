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
        let reader = std::thread::Builder::new()
            .name("ledger-pages".to_owned())
            .spawn_scoped(scope, reading)
            .map_err(|error| Error::Unreadable(format!("no thread can be had to read with: {error}")))?;
        for it in taken {
            if !each(it?)? {
                return Ok(false);
            }
        }
        // What ended because it broke has not come to its end.
        let broke = |_| Error::Unreadable("the thread that reads broke off; try again".to_owned());
        reader.join().map_err(broke).map(|()| true)
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn unread(n: usize) -> Error {
        Error::Unreadable(format!("page {n}"))
    }

    /// Pages 0, 1, 2 … up to `end`; one that is `bad` cannot be read. Says what was read, too.
    fn going(
        (end, bad): (usize, Option<usize>),
        mut each: impl FnMut(usize) -> Result<bool>,
    ) -> (Result<bool>, Vec<usize>, usize) {
        let (mut next, read, mut seen) = (0, AtomicUsize::new(0), Vec::new());
        let page = || {
            let n = next;
            next += 1;
            read.fetch_add(1, Ordering::SeqCst);
            (n < end).then(|| if Some(n) == bad { Err(unread(n)) } else { Ok(n) })
        };
        let ended = ahead(
            page,
            |_| {},
            |n| {
                seen.push(n);
                each(n)
            },
        );
        (ended, seen, read.into_inner())
    }

    #[test]
    fn what_is_read_ahead_comes_in_order_and_to_its_end() {
        let (ended, seen, _) = going((50, None), |_| Ok(true));
        assert_eq!((ended, seen), (Ok(true), (0..50).collect()));
    }

    #[test]
    fn a_page_that_cannot_be_read_is_told_after_those_before_it() {
        for bad in [0, 1, 7] {
            let (ended, seen, _) = going((50, Some(bad)), |_| Ok(true));
            assert_eq!((ended, seen), (Err(unread(bad)), (0..bad).collect()));
        }
    }

    /// That it returns at all says that the thread has ended.
    #[test]
    fn whoever_has_seen_enough_or_fails_ends_the_reading() {
        for last in [0, 3] {
            let (ended, seen, read) = going((usize::MAX, None), |n| Ok(n < last));
            assert_eq!((ended, seen), (Ok(false), (0..=last).collect()));
            // One that waits, one that is being read.
            assert!(read <= last + 4, "{read} pages were read for {last}");
            let (ended, _, _) = going((usize::MAX, None), |n| if n < last { Ok(true) } else { Err(unread(n)) });
            assert_eq!(ended, Err(unread(last)));
        }
    }

    #[test]
    fn a_reader_that_breaks_is_not_taken_for_the_end() {
        let mut next = 0;
        let page = || {
            next += 1;
            if next > 3 { panic!("it breaks") } else { Some(Ok(next)) }
        };
        let mut seen = 0;
        let ended = ahead(
            page,
            |_| {},
            |_| {
                seen += 1;
                Ok(true)
            },
        );
        assert!(matches!(ended, Err(Error::Unreadable(why)) if why.contains("broke off")));
        assert_eq!(seen, 3);
    }

    #[test]
    fn a_thread_that_is_ahead_does_more_of_the_work() {
        let patience = std::time::Duration::from_secs(30);
        let (go, gone) = sync_channel::<()>(1);
        let (take, taken) = sync_channel::<()>(1);
        let (mut next, mut helped) = (0, 0);
        // The first is handed over, the second waits, and for the third nobody is there yet.
        let page = move || {
            next += 1;
            if next == 2 {
                taken.recv_timeout(patience).unwrap();
            }
            (next <= 3).then_some(Ok(next))
        };
        let meanwhile = |page: &mut i32| {
            *page *= 10;
            go.send(()).unwrap();
        };
        let ended = ahead(page, meanwhile, |page| {
            if page == 1 {
                take.send(()).unwrap();
                gone.recv_timeout(patience).unwrap();
            }
            helped += i32::from(page == 30);
            Ok(true)
        });
        assert_eq!((ended, helped), (Ok(true), 1));
    }
}
