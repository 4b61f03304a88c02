//! How a command is decided: what it asks to see, what it is shown, and what follows.
//!
//! ```text
//! needs(seen) ─▶ what to look up ─▶ … at most four rounds … ─▶ decide(seen, context) ─▶ happenings, or a refusal
//! ```
//!
//! Nothing here reads a clock or a store: time and what was found come in, what has happened goes out.

use countersign_contract::Untrusted;
use countersign_contract::diagnostic::Code;
use serde_json::Value;
use std::collections::BTreeMap;

/// How often a command may ask for more.
pub const ROUNDS_MAX: usize = 4;

/// An entity's name: what it is, and which.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What it is.
    pub kind: String,
    /// Which one.
    pub id: String,
}

impl Key {
    /// An entity's name.
    pub fn new(kind: impl Into<String>, id: impl Into<String>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }
}

/// What an entity was when it was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// How many events have changed it.
    pub version: u64,
    /// The last of them.
    pub seq: u64,
    /// What is known of it.
    pub facts: Value,
}

/// What a command was shown: everything it asked for, and nothing else.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    entities: BTreeMap<Key, Option<Found>>,
}

impl Seen {
    /// Adds what was found under a key.
    pub fn add(&mut self, key: Key, found: Option<Found>) {
        self.entities.insert(key, found);
    }

    /// Whether a key was looked up.
    pub fn has(&self, key: &Key) -> bool {
        self.entities.contains_key(key)
    }

    /// What was found under a key. To read what was not asked for is a fault of the command: it would decide on less than
    /// there is.
    pub fn entity(&self, key: &Key) -> Option<&Found> {
        debug_assert!(self.has(key), "{key:?} was read without having been asked for");
        self.entities.get(key).and_then(Option::as_ref)
    }
}

/// What comes in with a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The ledger's clock, as RFC 3339.
    pub now: String,
    /// Who asks.
    pub actor: String,
    /// The id of the project.
    pub project: String,
    /// An id that nothing has yet.
    pub new_id: String,
}

/// Something that has happened, as a domain says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// What: a name in the past tense, with its domain before it.
    pub kind: &'static str,
    /// The version of its facts.
    pub v: u32,
    /// The run it belongs to.
    pub run: Option<String>,
    /// The data class.
    pub class: &'static str,
    /// The taint.
    pub taint: &'static str,
    /// Ids, states, numbers, paths and hashes.
    pub facts: Value,
    /// What can be erased.
    pub texts: Vec<Untrusted<String>>,
    /// The texts that it empties: event and number.
    pub erase: Vec<(u64, u32)>,
}

impl Happening {
    /// One with facts alone.
    pub fn new(kind: &'static str, facts: Value) -> Self {
        let (class, taint) = ("internal", "none");
        Self { kind, v: 1, run: None, class, taint, facts, texts: Vec::new(), erase: Vec::new() }
    }
}

/// Why a command is not carried out: the payload is right, and yet not now or not so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What it is filed under.
    pub code: Code,
    /// One sentence.
    pub reason: String,
    /// What to do.
    pub help: String,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: Code, reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, reason: reason.into(), help: help.into() }
    }
}

/// Something that can be asked for.
pub trait Command: Send + 'static {
    /// Its name.
    const NAME: &'static str;

    /// What it must see, given what it has seen.
    fn needs(&self, seen: &Seen) -> Vec<Key>;

    /// What follows from it. No happenings at all mean that everything is so already.
    fn decide(&self, seen: &Seen, context: &Context) -> Result<Vec<Happening>, Refusal>;
}

/// An event as a domain reads it.
#[derive(Debug, Clone, Copy)]
pub struct Happened<'a> {
    /// Its place in the log.
    pub seq: u64,
    /// What happened.
    pub kind: &'a str,
    /// The version of its facts.
    pub v: u32,
    /// Who did it.
    pub actor: &'a str,
    /// When, as RFC 3339.
    pub time: &'a str,
    /// The facts.
    pub facts: &'a Value,
}

/// Where an entity is found in an index: the bytes give the order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The index.
    pub index: &'static str,
    /// The place in it.
    pub at: Vec<u8>,
}
