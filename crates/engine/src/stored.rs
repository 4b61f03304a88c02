//! Events as they lie in the ledger, owned and ready to be shown.

use crate::WITHHELD;
use countersign_contract::Untrusted;
use countersign_domain::deciding::Happened;
use countersign_ledger as ledger;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// An event that was read back, or was just written.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Its place in the log.
    pub seq: u64,
    /// Its hash.
    pub hash: ledger::Hash,
    /// Its canonical bytes.
    pub body: String,
    said: Said,
    value: OnceLock<Value>,
}

/// What of an event is asked for whenever it is answered with. All of it is read when somebody asks for more.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Said {
    actor: String,
    erase: Option<IgnoredAny>,
    facts: Value,
    kind: String,
    run: String,
    time: String,
    v: u32,
}

impl Stored {
    /// Reads an event.
    pub fn of(row: ledger::EventRow) -> ledger::Result<Self> {
        Self::read(row.seq, row.hash, row.body)
            .map_err(|error| ledger::Error::Damaged(format!("event {} cannot be read: {error}", row.seq)))
    }

    /// An event that was just written, by somebody at some time: what is read of it is what was written, and need not be read.
    pub(crate) fn written(written: ledger::Written, actor: &str, time: &str) -> ledger::Result<Self> {
        let ledger::Written { row, kind, v, facts, erases } = written;
        let Some(facts) = facts else { return Self::of(row) };
        let (actor, time, run) = (actor.to_owned(), time.to_owned(), row.run.unwrap_or_default());
        let said = Said { actor, erase: erases.then_some(IgnoredAny), facts, kind, run, time, v };
        debug_assert!(
            serde_json::from_str::<Said>(&row.body).is_ok_and(|read| read == said),
            "{} is read as another",
            row.body
        );
        Ok(Self { seq: row.seq, hash: row.hash, body: row.body, said, value: OnceLock::new() })
    }

    /// Reads an event that came another way.
    pub fn read(seq: u64, hash: ledger::Hash, body: String) -> serde_json::Result<Self> {
        let said = serde_json::from_str(&body)?;
        Ok(Self { seq, hash, body, said, value: OnceLock::new() })
    }

    /// In the place of one that somebody may not see: its number and its hash, so that the log has no gap.
    pub(crate) fn withheld(seq: u64, hash: ledger::Hash) -> Self {
        let said = Said { kind: WITHHELD.to_owned(), ..Said::default() };
        Self { seq, hash, body: json!({ "kind": WITHHELD, "seq": seq }).to_string(), said, value: OnceLock::new() }
    }

    /// All of it.
    pub fn value(&self) -> &Value {
        self.value.get_or_init(|| serde_json::from_str(&self.body).unwrap_or_default())
    }

    /// A field of the envelope that is text.
    pub fn text(&self, field: &str) -> &str {
        match field {
            "actor" => &self.said.actor,
            "kind" => &self.said.kind,
            "run" => &self.said.run,
            "time" => &self.said.time,
            _ => self.value()[field].as_str().unwrap_or_default(),
        }
    }

    /// The facts.
    pub fn facts(&self) -> &Value {
        &self.said.facts
    }

    /// Whether it empties texts.
    pub fn erases(&self) -> bool {
        self.said.erase.is_some()
    }

    /// What it says, in a few words for a list.
    pub fn summary(&self) -> String {
        countersign_domain::summary(&self.happened()).unwrap_or_default()
    }

    /// The event as a domain reads it.
    pub fn happened(&self) -> Happened<'_> {
        let Said { actor, facts, kind, time, v, .. } = &self.said;
        Happened { seq: self.seq, kind, v: *v, actor, time, facts }
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        (self.seq, self.hash, &self.body) == (other.seq, other.hash, &other.body)
    }
}

/// A text of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredText {
    /// What was said.
    Said(Untrusted<String>),
    /// Bytes that are no text.
    Bytes(Vec<u8>),
    /// It was erased.
    Erased,
}

impl StoredText {
    /// What was said, if it is there and a text.
    pub(crate) fn said(self) -> Option<Untrusted<String>> {
        match self {
            Self::Said(text) => Some(text),
            Self::Bytes(_) | Self::Erased => None,
        }
    }

    pub(crate) fn of(row: ledger::TextRow) -> Self {
        match row.text.map(|text| String::from_utf8(text.body)) {
            None => Self::Erased,
            Some(Ok(text)) => Self::Said(Untrusted::new(text)),
            Some(Err(error)) => Self::Bytes(error.into_bytes()),
        }
    }
}
