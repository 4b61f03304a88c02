//! Taking in events that were recorded elsewhere: from an export, or from another store.
//!
//! They are verified as they come, and everything that is derived is made here. Until the last of them is in, the ledger is
//! closed to commands; what broke off is taken up where it stopped.

use crate::chain::{Chain, Hashes, text_faults};
use crate::erasure;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::hash::Hash;
use crate::ledger::PATIENCE;
use crate::pages;
use crate::refold::Refold;
use crate::rows::{EventRow, RowValue, Table, TextRow};
use crate::store::{Batch, Begun, Head, Store};
use crate::tree::{Edge, peaks_at};
use crate::writer::{META_CLOSED, META_PROJECT, META_SHAPE, meta};

const FILLING: &str = "this ledger is being filled from another one; run the same `countersign import` or `countersign migrate` again to finish it";
const MOVED: &str = "this ledger has moved to ";

/// Whether a ledger that is closed for this reason was closed by one of us.
pub(crate) fn closes(why: &str) -> bool {
    why == FILLING || why.strip_prefix(MOVED).is_some_and(|place| !place.is_empty())
}

/// A store that takes events in.
pub struct Intake<'a> {
    store: &'a mut dyn Store,
    project: String,
    chain: Chain,
    refold: Refold<'a>,
}

impl<'a> Intake<'a> {
    /// Makes a store ready for the events of a project. It must be empty, or have been begun in the same way, or be the
    /// one that the events once moved away from.
    pub fn open(store: &'a mut dyn Store, fold: &'a dyn Fold, project: &str) -> Result<Self> {
        crate::ledger::named(project)?;
        let begun = store.begin_within(PATIENCE)?;
        if let Err(error) = may_take(&begun, project, fold.shape()) {
            store.rollback();
            return Err(error);
        }
        let row = |name, value: &str| (meta(name), RowValue::Meta(value.to_owned()));
        let shape = fold.shape().to_string();
        let put = vec![row(META_CLOSED, FILLING), row(META_PROJECT, project), row(META_SHAPE, &shape)];
        store.apply(&Batch { put, ..Batch::default() })?;
        store.commit()?;
        let edge = Edge::load(store, begun.head.seq)?;
        let chain = Chain::after(project, begun.head, peaks_at(store, begun.head.seq)?);
        Ok(Self { store, project: project.to_owned(), chain, refold: Refold::living(fold, edge) })
    }

    /// The last event that is in.
    pub fn head(&self) -> Head {
        self.chain.head()
    }

    /// The root of the tree up to there.
    pub fn root(&self) -> Hash {
        self.chain.peaks().root()
    }

    /// Takes in a page of events with their texts, durably.
    pub fn take(&mut self, events: Vec<EventRow>, texts: Vec<TextRow>) -> Result<()> {
        let begun = self.store.begin_within(PATIENCE)?;
        let taken = self.derive(&begun, &events, &texts);
        if let Err(error) = taken {
            self.store.rollback();
            return Err(error);
        }
        let batch = Batch { events, texts, ..self.refold.take_batch() };
        self.store.apply(&batch)?;
        self.store.commit()?;
        self.refold.written(batch);
        Ok(())
    }

    fn derive(&mut self, begun: &Begun, events: &[EventRow], texts: &[TextRow]) -> Result<()> {
        if begun.head != self.chain.head() || begun.meta(META_CLOSED) != Some(FILLING) {
            return Err(Error::Closed("somebody else has written to this ledger meanwhile".to_owned()));
        }
        let mut texts = texts.iter().peekable();
        for row in events {
            let seq = self.chain.head().seq + 1;
            let bad = |faults: Vec<String>| Error::Malformed(format!("event {seq}: {}", faults.join("; ")));
            let mut hashes = Hashes::of(&row.body);
            let leaf = hashes.leaf(&row.body);
            let event = self.chain.follow_hashed(row, hashes).map_err(bad)?;
            let mut own = Vec::new();
            while let Some(text) = texts.next_if(|text| text.seq == row.seq) {
                own.push(text.clone());
            }
            let (faults, _) = text_faults(&event, &own);
            if !faults.is_empty() {
                return Err(bad(faults));
            }
            self.refold.overlay.erase.extend(&event.erase);
            self.refold.add(self.store, &event, leaf)?;
        }
        if !self.refold.overlay.erase.is_empty() {
            let (key, value) = erasure::set(self.chain.head());
            self.refold.overlay.put(key, value);
        }
        Ok(())
    }

    /// Opens the ledger to commands, provided that it ends where the other one did.
    pub fn finish(self, head: Head) -> Result<()> {
        if self.chain.head() != head {
            let found = self.chain.head();
            return Err(Error::Malformed(format!(
                "the events end with {} {}, and must end with {} {}",
                found.seq, found.hash, head.seq, head.hash
            )));
        }
        self.store.begin_within(PATIENCE)?;
        self.store.apply(&Batch { delete: vec![meta(META_CLOSED)], ..Batch::default() })?;
        self.store.commit()?;
        self.store.settle();
        if erasure::mark(self.store)?.is_some() { self.store.scrub() } else { Ok(()) }
    }

    /// The project's id.
    pub fn project(&self) -> &str {
        &self.project
    }
}

fn may_take(begun: &Begun, project: &str, shape: u32) -> Result<()> {
    let other = begun.meta(META_PROJECT).filter(|found| *found != project);
    if let Some(found) = other.filter(|_| begun.head.seq > 0) {
        return Err(Error::Closed(format!("there is a ledger already, of another project ({found})")));
    }
    let closed = begun.meta(META_CLOSED);
    let begun_here = closed.is_some_and(closes);
    if begun.head.seq > 0 && !begun_here {
        return Err(Error::Closed("there is a ledger already, and it is in use; name an empty place".to_owned()));
    }
    let found: u32 = begun.meta(META_SHAPE).and_then(|it| it.parse().ok()).unwrap_or(shape);
    match found {
        found if found > shape => Err(Error::Newer { what: "shape", found, known: shape }),
        found if found < shape && begun.head.seq > 0 => Err(Error::Older { found, known: shape }),
        _ => Ok(()),
    }
}

/// Copies a whole ledger into another store, and closes the one it came from. It ends with the same head hash, and can be
/// run again if it broke off. Says how many events are done of how many.
pub fn migrate(
    from: &mut dyn Store,
    to: &mut dyn Store,
    fold: &dyn Fold,
    destination: &str,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Head> {
    let moved = format!("{MOVED}{destination}");
    match from.get(&[meta(META_CLOSED)])?.pop().flatten() {
        Some(RowValue::Meta(why)) if why != moved => Err(Error::Closed(why)),
        _ => transfer(from, to, fold, Some(moved), progress),
    }
}

/// Copies a whole ledger into another store, and leaves the one it came from as it is.
pub fn copy(
    from: &mut dyn Store,
    to: &mut dyn Store,
    fold: &dyn Fold,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Head> {
    transfer(from, to, fold, None, progress)
}

fn transfer(
    from: &mut dyn Store,
    to: &mut dyn Store,
    fold: &dyn Fold,
    close: Option<String>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Head> {
    let Some(RowValue::Meta(project)) = from.get(&[meta(META_PROJECT)])?.pop().flatten() else {
        return Err(Error::Closed("this ledger has no project yet".to_owned()));
    };
    if let Some(head) = arrived(from, to, &project)? {
        return Ok(head);
    }
    let mut intake = Intake::open(to, fold, &project)?;
    let known = intake.head();
    if known.seq > 0 && from.events(known.seq, None, 1)?.first().is_none_or(|row| row.hash != known.hash) {
        return Err(Error::Closed(format!(
            "the two ledgers differ at event {}; neither can become the other",
            known.seq
        )));
    }
    copy_events(from, &mut intake, progress)?;
    // Now nobody writes: what came meanwhile is copied, and then the door is closed behind us, if it is to be.
    let head = from.begin_within(PATIENCE)?.head;
    let copied = copy_events(from, &mut intake, progress).and_then(|()| copy_liveness(from, intake.store));
    match (copied, close) {
        (Ok(()), Some(why)) => {
            let closed = (meta(META_CLOSED), RowValue::Meta(why));
            from.apply(&Batch { put: vec![closed], ..Batch::default() })?;
            from.commit()?;
        }
        (copied, _) => {
            from.rollback();
            copied?;
        }
    }
    intake.finish(head)?;
    Ok(head)
}

/// Where the log ends, if it has been moved already and the new place is in use.
fn arrived(from: &mut dyn Store, to: &mut dyn Store, project: &str) -> Result<Option<Head>> {
    let moved =
        matches!(from.get(&[meta(META_CLOSED)])?.as_slice(), [Some(RowValue::Meta(why))] if why.starts_with(MOVED));
    let there = to.get(&[meta(META_PROJECT), meta(META_CLOSED)])?;
    let open = matches!(there.as_slice(), [Some(RowValue::Meta(found)), None] if found == project);
    let head = from.head()?;
    let same = moved && open && to.events(head.seq, None, 1)?.first().is_some_and(|row| row.hash == head.hash);
    Ok(same.then_some(head))
}

fn copy_events(from: &mut dyn Store, intake: &mut Intake<'_>, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let end = from.head()?.seq;
    while intake.head().seq < end {
        let first = intake.head().seq + 1;
        let limit = pages::size(from, first, end)?;
        let events = from.events(first, None, limit)?;
        let Some(last) = events.last().map(|row| row.seq) else {
            return Err(Error::Damaged(format!("event {first} is missing")));
        };
        let texts = from.texts(first, last + 1)?;
        intake.take(events, texts)?;
        progress(last, end);
    }
    Ok(())
}

/// Leases go on where they were.
fn copy_liveness(from: &mut dyn Store, to: &mut dyn Store) -> Result<()> {
    let mut put = Vec::new();
    for table in [Table::Liveness, Table::Due] {
        pages::rows(from, table, &mut |row| {
            put.push(row);
            Ok(())
        })?;
    }
    to.begin_within(PATIENCE)?;
    to.clear(Table::Liveness)?;
    to.clear(Table::Due)?;
    to.apply(&Batch { put, ..Batch::default() })?;
    to.commit()
}
