//! An append-only log that nobody can quietly rewrite, and what is derived from it.
//!
//! ```text
//! work(transaction) ─▶ drafts ─▶ events ─chain, tree─▶ rows ─one commit─▶ store
//!                                   └─fold─▶ entities and their places
//! ```
//!
//! [`Ledger`] gives promises about events; [`Store`] gives promises about rows, and there is one for memory, for a SQLite
//! file and for PostgreSQL. What events mean comes from outside, as a [`Fold`].
//!
//! **Invariant:** everything is decided inside the write transaction; events, chain, entities, places, leases and the
//! idempotency key are one commit; nobody is answered before it is durable.
//! **Invariant:** each event holds the hash of the one before it; the events' bytes are the leaves of a Merkle tree.
//! **Invariant:** all rows but events, texts and liveness can be made again from the events, byte for byte.
//! **Absent on purpose:** domains. The ledger knows bytes, names and numbers.

pub mod canonical;
mod chain;
mod checkpoint;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod deciding;
mod due;
mod ending;
mod erasure;
mod error;
mod event;
mod export;
mod facts;
mod fold;
mod hash;
mod healing;
mod hot;
mod ids;
mod intake;
mod later;
pub mod lease;
mod ledger;
mod memory;
mod overlay;
pub mod pages;
mod postgres;
mod proof;
mod queue;
mod rebuild;
mod refold;
mod rows;
mod scratch;
mod scribe;
mod seat;
mod sqlite;
mod store;
mod strict;
mod time;
mod transaction;
pub mod tree;
mod verify;
mod writer;
mod written;

pub use chain::{Chain, Hashes, text_faults};
pub use checkpoint::{Checkpoint, PublicKey, SecretKey};
pub use erasure::unfinished_erasure;
pub use error::{Error, Refused, Result};
pub use event::{
    Binding, Command, Draft, EVENT_BYTES_MAX, Event, Held, INLINE_BYTES_MAX, LeaseChange, NAME_BYTES_MAX, Once,
    TEXTS_BYTES_MAX, TEXTS_MAX, Text, TextPlace, name_fault, project_fault,
};
pub use export::{EXPORT_VERSION, EachPage, Exported, export, read_export};
pub use facts::Facts;
pub use fold::{Fold, Moves, State};
pub use hash::{Hash, hex, unhex};
pub use intake::{Intake, copy, migrate};
pub use later::Pending;
pub use ledger::{Ledger, PAGE_EVENTS, PATIENCE, REBUILD_UNASKED_MAX, Reader};
pub use memory::Memory;
pub use postgres::Postgres;
pub use proof::{Proven, prove, verify_proof};
pub use rebuild::rebuild;
pub use rows::{
    Entity, EventRow, Key, Lease, Liveness, Name, Place, Remembered, Row, RowKey, RowValue, Table, TextRow,
};
pub use sqlite::Sqlite;
pub use store::{Batch, Begun, Head, Store};
pub use time::{Clock, Time};
pub use transaction::{Hit, Recorded, Scan, Tally, Transaction, Written};
pub use verify::{Finding, Verified, Verifying, verify};
