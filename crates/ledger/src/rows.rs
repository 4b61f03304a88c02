//! What a store keeps: rows, each with a key.
//!
//! ```text
//! truth     events, texts, meta
//! derived   entity, index, touch, remembered, lease, tile     made again from the events by `rebuild`
//! neither   liveness, due                                     how fresh a lease is; lost without harm
//! ```

use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::time::Time;
use std::sync::Arc;

/// A name in a key. Most are short and lie in the key itself: keys are copied more often than anything else, and to ask for
/// memory for each name would cost more than the rest of it.
pub type Name = compact_str::CompactString;

/// An entity's name: what it is, and which.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What it is.
    pub kind: Name,
    /// Which one.
    pub id: Name,
}

impl Key {
    /// An entity's name.
    pub fn new(kind: impl Into<Name>, id: impl Into<Name>) -> Self {
        Self { kind: kind.into(), id: id.into() }
    }
}

/// The current state of something that events are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entity {
    /// Its name.
    pub key: Key,
    /// The last event that changed it.
    pub seq: u64,
    /// How many events changed it.
    pub version: u64,
    /// The first of them.
    pub birth: u64,
    /// The shape of the fold that made it.
    pub shape: u32,
    /// The matter whose readers may see it.
    pub matter: Name,
    /// Its data class.
    pub class: Name,
    /// What is known of it, in canonical JSON. It is shared by all who have it: they are many, and it can be long.
    pub facts: Arc<str>,
}

/// Where an entity is found in an index: the bytes give the order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The index.
    pub index: Name,
    /// The place in it.
    pub at: Vec<u8>,
}

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The hash of the request.
    pub request: Hash,
    /// The code that was answered.
    pub code: String,
    /// The first event that it recorded.
    pub first: u64,
    /// The last one.
    pub last: u64,
}

/// A lease as its events have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The fencing number: the sequence number of the grant.
    pub number: u64,
    /// Who holds it.
    pub holder: String,
    /// When it was granted.
    pub granted: Time,
    /// How long it lasts without a renewal, in milliseconds.
    pub ttl: i64,
    /// The event that ended it.
    pub ended: Option<u64>,
}

/// When a lease was last renewed, and when it lapses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Liveness {
    /// The lease's fencing number.
    pub number: u64,
    /// The last sign of life.
    pub beat: Time,
    /// When it lapses.
    pub deadline: Time,
}

/// The key of a row other than an event or a text. The order is that of the tables.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// `entity`
    Entity(Key),
    /// `index`
    Index(Place, Key),
    /// `touch`: an event, and an entity that it changed. In the order of events, so that a history of any length is added to at
    /// one end.
    Touch(u64, Key),
    /// `remembered`: actor, command, idempotency key.
    Remembered([Name; 3]),
    /// `lease`
    Lease(Name),
    /// `tile`: level, number.
    Tile(u8, u64),
    /// `liveness`
    Liveness(Name),
    /// `due`: when a lease lapses.
    Due(Time, Name),
    /// `meta`
    Meta(Name),
}

/// The rest of the row; the variant follows from the key's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowValue {
    /// Of an entity; the key is repeated in it.
    Entity(Entity),
    /// The key says it all.
    Nothing,
    /// Of a touch: the event that had changed the entity before, or 0.
    Touch(u64),
    /// Of an idempotency key.
    Remembered(Remembered),
    /// Of a lease.
    Lease(Lease),
    /// The hashes of a tile, one after the other.
    Tile(Vec<u8>),
    /// Of a liveness row.
    Liveness(Liveness),
    /// Of a setting.
    Meta(String),
}

/// A table of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Current states.
    Entity,
    /// Where they are found.
    Index,
    /// Which events changed them.
    Touch,
    /// Idempotency keys.
    Remembered,
    /// Leases.
    Lease,
    /// The Merkle tree.
    Tile,
    /// How fresh leases are.
    Liveness,
    /// When they lapse.
    Due,
    /// Settings of the store.
    Meta,
}

impl Table {
    /// The tables that are made from the events, and must be what the events say.
    pub const DERIVED: [Table; 6] =
        [Table::Entity, Table::Index, Table::Touch, Table::Remembered, Table::Lease, Table::Tile];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Table::Entity => "entity",
            Table::Index => "place",
            Table::Touch => "touch",
            Table::Remembered => "remembered",
            Table::Lease => "lease",
            Table::Tile => "tile",
            Table::Liveness => "liveness",
            Table::Due => "due",
            Table::Meta => "meta",
        }
    }

    /// A key that comes before all others of the table.
    pub fn first(self) -> RowKey {
        let none = Name::default;
        match self {
            Table::Entity => RowKey::Entity(Key::new("", "")),
            Table::Index => RowKey::Index(Place { index: none(), at: Vec::new() }, Key::new("", "")),
            Table::Touch => RowKey::Touch(0, Key::new("", "")),
            Table::Remembered => RowKey::Remembered([none(), none(), none()]),
            Table::Lease => RowKey::Lease(none()),
            Table::Tile => RowKey::Tile(0, 0),
            Table::Liveness => RowKey::Liveness(none()),
            Table::Due => RowKey::Due(Time(i64::MIN), none()),
            Table::Meta => RowKey::Meta(none()),
        }
    }
}

impl RowKey {
    /// The table it belongs to.
    pub fn table(&self) -> Table {
        match self {
            RowKey::Entity(_) => Table::Entity,
            RowKey::Index(..) => Table::Index,
            RowKey::Touch(..) => Table::Touch,
            RowKey::Remembered(_) => Table::Remembered,
            RowKey::Lease(_) => Table::Lease,
            RowKey::Tile(..) => Table::Tile,
            RowKey::Liveness(_) => Table::Liveness,
            RowKey::Due(..) => Table::Due,
            RowKey::Meta(_) => Table::Meta,
        }
    }
}

/// A key with the rest of its row.
pub type Row = (RowKey, RowValue);

/// An event as it lies in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its place in the log.
    pub seq: u64,
    /// Its id, as in its body.
    pub id: String,
    /// Its run, as in its body.
    pub run: Option<String>,
    /// The SHA-256 of the body.
    pub hash: Hash,
    /// Its canonical bytes.
    pub body: String,
}

/// A text as it lies in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRow {
    /// The event that brought it.
    pub seq: u64,
    /// Which of its texts.
    pub n: u32,
    /// Salt and body, or nothing once it was erased.
    pub text: Option<crate::event::Text>,
}

impl TextRow {
    /// A text from the columns that hold it: both salt and body are there, or neither is.
    pub(crate) fn of_columns(seq: u64, n: u32, salt: Option<&[u8]>, body: Option<Vec<u8>>) -> Result<Self> {
        let damaged = |why: &str| Error::Damaged(format!("text {n} of event {seq} {why}"));
        let text = match (salt, body) {
            (Some(salt), Some(body)) => {
                let salt = salt.try_into().map_err(|_| damaged("has a salt of another length"))?;
                Some(crate::event::Text { salt, body })
            }
            (None, None) => None,
            _ => return Err(damaged("is half erased")),
        };
        Ok(Self { seq, n, text })
    }
}
