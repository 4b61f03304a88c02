//! Events as they lie in the ledger, owned and ready to be shown.

use countersign_contract::Untrusted;
use countersign_domain::deciding::Happened;
use countersign_ledger as ledger;
use serde_json::Value;

/// An event that was read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its place in the log.
    pub seq: u64,
    /// Its hash.
    pub hash: ledger::Hash,
    /// Its canonical bytes.
    pub body: String,
    /// The same, read.
    pub value: Value,
}

impl Stored {
    /// Reads an event.
    pub fn of(row: ledger::EventRow) -> ledger::Result<Self> {
        let value = serde_json::from_str(&row.body)
            .map_err(|error| ledger::Error::Damaged(format!("event {} cannot be read: {error}", row.seq)))?;
        Ok(Self { seq: row.seq, hash: row.hash, body: row.body, value })
    }

    /// A field of the envelope that is text.
    pub fn text(&self, field: &str) -> &str {
        self.value[field].as_str().unwrap_or_default()
    }

    /// The facts.
    pub fn facts(&self) -> &Value {
        &self.value["facts"]
    }

    /// What it says, in a few words for a list.
    pub fn summary(&self) -> String {
        countersign_domain::summary(&self.happened()).unwrap_or_default()
    }

    /// The event as a domain reads it.
    pub fn happened(&self) -> Happened<'_> {
        Happened {
            seq: self.seq,
            kind: self.text("kind"),
            v: u32::try_from(self.value["v"].as_u64().unwrap_or(0)).unwrap_or(0),
            actor: self.text("actor"),
            time: self.text("time"),
            facts: self.facts(),
        }
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
