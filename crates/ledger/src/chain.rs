//! Going along the chain: whether each event is what it must be after the one before it.

use crate::canonical;
use crate::event::Event;
use crate::hash::Hash;
use crate::rows::{EventRow, TextRow};
use crate::store::Head;
use crate::strict;
use crate::tree::{Peaks, leaf};
use std::fmt::Display;

/// A place in the chain, and the tree up to there.
#[derive(Debug, Clone)]
pub struct Chain {
    project: String,
    head: Head,
    peaks: Peaks,
}

/// The hashes of an event's bytes: as the next event names it, and as a leaf of the tree. They are half of what going along a
/// chain costs, and need the bytes alone, so that they can be made beside it.
#[derive(Debug, Clone, Copy)]
pub struct Hashes {
    event: Hash,
    leaf: Option<Hash>,
}

impl Hashes {
    /// Of an event's bytes; the leaf is made when it is asked for.
    pub fn of(body: &str) -> Self {
        Self { event: Hash::of(body.as_bytes()), leaf: None }
    }

    /// The leaf, of the same bytes.
    pub fn leaf(&mut self, body: &str) -> Hash {
        *self.leaf.get_or_insert_with(|| leaf(body))
    }
}

impl Chain {
    /// Before the first event of a project.
    pub fn start(project: &str) -> Self {
        Self { project: project.to_owned(), head: Head::EMPTY, peaks: Peaks::default() }
    }

    /// After some event, where the tree is known as well.
    pub fn after(project: &str, head: Head, peaks: Peaks) -> Self {
        Self { project: project.to_owned(), head, peaks }
    }

    /// The last event that was looked at.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The tree up to there.
    pub fn peaks(&self) -> &Peaks {
        &self.peaks
    }

    /// Looks at the next event, and says everything that is wrong with it. If nothing is, the chain goes on behind it.
    pub fn follow<'a>(&mut self, row: &'a EventRow) -> Result<Event<'a>, Vec<String>> {
        self.follow_hashed(row, Hashes::of(&row.body))
    }

    /// The same, where the bytes were hashed before.
    pub fn follow_hashed<'a>(&mut self, row: &'a EventRow, mut hashes: Hashes) -> Result<Event<'a>, Vec<String>> {
        let hash = hashes.event;
        let (event, canonical) = match strict::event(&row.body) {
            Some(event) => (event, true),
            None => read_slowly(&row.body)?,
        };
        let mut faults = self.differences(row, &event, hash);
        if !canonical {
            faults.push("its bytes are not in canonical form".to_owned());
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        self.head = Head { seq: row.seq, hash };
        self.peaks.add(hashes.leaf(&row.body));
        Ok(event)
    }

    fn differences(&self, row: &EventRow, event: &Event<'_>, hash: Hash) -> Vec<String> {
        let mut faults = Vec::new();
        let next = self.head.seq + 1;
        differ(&mut faults, "its place in the log", row.seq, next);
        differ(&mut faults, "the `seq` in its bytes", event.seq, next);
        differ(&mut faults, "the stored hash", row.hash, hash);
        differ(&mut faults, "the hash of its predecessor (`prev`)", event.prev, self.head.hash);
        differ(&mut faults, "its project", event.project, &self.project);
        differ(&mut faults, "the stored id", row.id.as_str(), event.id);
        if row.run.as_deref() != event.run {
            faults.push(format!("the stored run is {:?} and must be {:?}", row.run, event.run));
        }
        faults
    }
}

/// Reads an event of which it is not known whether it is in canonical form, and says that, too.
fn read_slowly(body: &str) -> Result<(Event<'_>, bool), Vec<String>> {
    let event = Event::read(body).map_err(|why| vec![format!("its bytes are no event: {why}")])?;
    let canonical = event.is_written(body) && canonical::fault(body).is_none();
    Ok((event, canonical))
}

fn differ<T: PartialEq + Display>(faults: &mut Vec<String>, what: &str, stored: T, needed: T) {
    if stored != needed {
        faults.push(format!("{what} is {stored} and must be {needed}"));
    }
}

/// What is wrong with the texts of an event, and which of them were erased.
pub fn text_faults(event: &Event<'_>, texts: &[TextRow]) -> (Vec<String>, Vec<u32>) {
    let mut faults = Vec::new();
    let mut erased = Vec::new();
    if texts.len() != event.texts.len() {
        faults.push(format!("it has {} texts and must have {}", texts.len(), event.texts.len()));
    }
    for ((n, row), hash) in (0u32..).zip(texts).zip(&event.texts) {
        match &row.text {
            _ if row.n != n => faults.push(format!("its text {n} is missing")),
            None => erased.push(n),
            Some(text) if text.hash() != *hash => faults.push(format!("its text {n} is not the one that was recorded")),
            Some(_) => {}
        }
    }
    (faults, erased)
}
