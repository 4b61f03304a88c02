//! What a command asks to see, and what it was shown.

use super::facts::Facts;
use compact_str::CompactString;
use countersign_contract::Untrusted;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An entity's name: what it is, and which. Keys are copied often, and most of their texts are short enough to lie in them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What it is.
    pub kind: CompactString,
    /// Which one.
    pub id: CompactString,
}

impl Key {
    /// An entity's name.
    pub fn new(kind: impl Into<CompactString>, id: impl Into<CompactString>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }
}

/// A stretch of an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The index.
    pub index: &'static str,
    /// The first place, inclusive.
    pub from: Vec<u8>,
    /// The last place, exclusive; to the end of the index without it.
    pub to: Option<Vec<u8>>,
    /// How many at most.
    pub limit: usize,
}

impl Range {
    /// All places that begin with some bytes.
    pub fn prefix(index: &'static str, prefix: &[u8], limit: usize) -> Self {
        Self { index, from: prefix.to_vec(), to: after_prefix(prefix), limit }
    }

    /// The places that begin with some bytes and lie after one of them.
    pub fn prefix_after(index: &'static str, prefix: &[u8], after: &[u8], limit: usize) -> Self {
        Self::prefix(index, prefix, limit).after(after)
    }

    /// What of it lies after a place. A place before its beginning, which somebody may have made up, leaves it as it is.
    pub fn after(&self, at: &[u8]) -> Self {
        Self { from: [at, &[0]].concat().max(self.from.clone()), ..self.clone() }
    }

    /// Just these bytes.
    pub fn exactly(index: &'static str, at: &[u8], limit: usize) -> Self {
        Self { index, from: at.to_vec(), to: Some([at, &[0]].concat()), limit }
    }

    fn holds(&self, at: &[u8]) -> bool {
        self.from.as_slice() <= at && self.to.as_deref().is_none_or(|to| at < to)
    }
}

/// The first bytes after all that begin with a prefix: the last byte that can grow does, what follows it falls away.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while end.last() == Some(&0xff) {
        end.pop();
    }
    *end.last_mut()? += 1;
    Some(end)
}

/// Where an entity is found in an index: the bytes give the order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The index.
    pub index: &'static str,
    /// The place in it.
    pub at: Vec<u8>,
}

/// Something to look up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// An entity.
    Entity(Key),
    /// What lies in a stretch of an index.
    Range(Range),
    /// How a lease stands.
    Lease(String),
    /// The texts of an event. Views may ask for them; what is decided is decided on facts.
    Texts(u64),
}

/// What an entity was when it was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How many events have changed it.
    pub version: u64,
    /// The last of them.
    pub seq: u64,
    /// What is known of it.
    pub facts: Arc<Facts>,
}

/// A lease that was granted and has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Who holds it.
    pub holder: String,
    /// The fencing number.
    pub number: u64,
    /// The last sign of life, in milliseconds since 1970.
    pub beat: i64,
    /// When it lapses, likewise.
    pub deadline: i64,
}

/// A place in an index, and the entity that is there.
pub type Hit = (Vec<u8>, Key);

/// What lies in a stretch of an index.
#[derive(Debug, Clone, Default)]
struct Stretch {
    hits: BTreeSet<Hit>,
    /// The last place of one that came back full. It stays so, whatever is found there by now.
    end: Option<Vec<u8>>,
}

/// What a command was shown: everything it asked for, and nothing else.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    entities: BTreeMap<Key, Option<Found>>,
    ranges: BTreeMap<Range, Stretch>,
    leases: BTreeMap<String, Option<Hold>>,
    texts: BTreeMap<u64, Vec<Option<Untrusted<String>>>>,
}

impl Seen {
    /// Adds what was found under a key.
    pub fn add(&mut self, key: Key, found: Option<Found>) {
        self.entities.insert(key, found);
    }

    /// Adds what lies in a stretch of an index.
    pub fn add_range(&mut self, range: Range, hits: impl IntoIterator<Item = Hit>) {
        let hits: BTreeSet<Hit> = hits.into_iter().collect();
        let end = hits.last().filter(|_| hits.len() >= range.limit).map(|(at, _)| at.clone());
        self.ranges.insert(range, Stretch { hits, end });
    }

    /// Adds how a lease stands: none, if nobody holds it.
    pub fn add_lease(&mut self, name: String, hold: Option<Hold>) {
        self.leases.insert(name, hold);
    }

    /// Adds the texts of an event; what was erased is none.
    pub fn add_texts(&mut self, seq: u64, texts: Vec<Option<Untrusted<String>>>) {
        self.texts.insert(seq, texts);
    }

    /// Whether something was looked up.
    pub fn has(&self, need: &Need) -> bool {
        match need {
            Need::Entity(key) => self.entities.contains_key(key),
            Need::Range(range) => self.ranges.contains_key(range),
            Need::Lease(name) => self.leases.contains_key(name),
            Need::Texts(seq) => self.texts.contains_key(seq),
        }
    }

    /// What was found under a key. To read what was not asked for is a fault of the command: it would decide on less than
    /// there is.
    pub fn entity(&self, key: &Key) -> Option<&Found> {
        debug_assert!(self.entities.contains_key(key), "{key:?} was read without having been asked for");
        self.entities.get(key).and_then(Option::as_ref)
    }

    /// What was found under a key that may not have been asked for yet.
    pub fn so_far(&self, key: &Key) -> Option<&Found> {
        self.entities.get(key).and_then(Option::as_ref)
    }

    /// What lies in a stretch of an index, in its order.
    pub fn range(&self, range: &Range) -> impl Iterator<Item = &Hit> {
        debug_assert!(self.ranges.contains_key(range), "{range:?} was read without having been asked for");
        self.ranges.get(range).into_iter().flat_map(|stretch| &stretch.hits)
    }

    /// What lies in a stretch that may not have been asked for yet.
    pub fn range_so_far(&self, range: &Range) -> Option<Vec<&Hit>> {
        Some(self.ranges.get(range)?.hits.iter().collect())
    }

    /// Where a stretch goes on that came back full: there may be more than was shown. None, if it was shown to its end or
    /// was not asked for yet.
    pub fn rest(&self, range: &Range) -> Option<Range> {
        let end = self.ranges.get(range)?.end.as_deref()?;
        Some(range.after(end))
    }

    /// How a lease stands.
    pub fn lease(&self, name: &str) -> Option<&Hold> {
        debug_assert!(self.leases.contains_key(name), "lease {name} was read without having been asked for");
        self.leases.get(name).and_then(Option::as_ref)
    }

    /// The texts of an event; what was erased is none.
    pub fn texts(&self, seq: u64) -> &[Option<Untrusted<String>>] {
        self.texts.get(&seq).map_or(&[], Vec::as_slice)
    }

    /// A text of an event; none, if it was erased.
    pub fn text(&self, seq: u64, n: usize) -> Option<&Untrusted<String>> {
        debug_assert!(self.texts.contains_key(&seq), "the texts of {seq} were read without having been asked for");
        self.texts.get(&seq)?.get(n)?.as_ref()
    }

    /// Changes what an entity is, and where it is found.
    pub(super) fn change(&mut self, key: &Key, after: Option<Found>, old: &[Place], new: &[Place]) {
        for (range, Stretch { hits, .. }) in &mut self.ranges {
            let here = |place: &&Place| place.index == range.index && range.holds(&place.at);
            for place in old.iter().filter(here) {
                hits.remove(&(place.at.clone(), key.clone()));
            }
            hits.extend(new.iter().filter(here).map(|place| (place.at.clone(), key.clone())));
        }
        self.entities.insert(key.clone(), after);
    }

    /// Changes how a lease stands.
    pub(super) fn change_lease(&mut self, name: &str, hold: Option<Hold>) {
        self.leases.insert(name.to_owned(), hold);
    }
}
