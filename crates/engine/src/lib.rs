//! The one road of a command, from what is asked to what was recorded; and the road of a question.
//!
//! ```text
//! request ─▶ read ─▶ observe ─▶ authorise ─▶ ┌ known key? ─▶ due ─▶ needs ─▶ decide ─▶ append ┐ ─▶ answer from what was stored ─▶ disclose
//!                                            └────────────── one write transaction ──────────┘
//! question ─▶ read ─▶ needs ─▶ render ─▶ disclose
//! ```
//!
//! `domain` decides and knows no store; `ledger` stores and knows no domain; this crate knows both, and is the only one.
//! [`COMMANDS`] and [`VIEWS`] list everything that can be asked; every door is made from them.
//!
//! **Invariant:** everything between the key and the append happens inside one write transaction.
//! **Invariant:** an answer is made from the stored events, never from the request.
//! **Invariant:** who may ask, and who may see what, is checked here and nowhere else.
//! **Absent on purpose:** terminals, HTTP, processes, files. What must be seen of the world comes in as a [`World`].

mod begun;
mod call;
mod chance;
mod disclose;
mod due;
mod look;
mod meaning;
mod meant;
mod refusals;
mod road;
mod stored;
mod table;
mod world;
mod written;

pub use begun::{Begun, Ended};
pub use call::{Bound, Call, Failure, Reply};
pub use disclose::WITHHELD;
pub use meaning::{Meaning, SHAPE};
pub use stored::{Stored, StoredText};
pub use table::{COMMANDS, CommandRow, VIEWS, ViewRow, command_row, view_row};
pub use world::{Nowhere, World};

use countersign_domain::deciding::{Found, Key};
use countersign_ledger as ledger;
use ledger::{Ledger, Store};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The code of a command that was carried out.
pub const OK: &str = "OK";

/// A project's ledger, with what its events mean.
pub struct Engine {
    ledger: Ledger,
    /// Until when nothing can be due, in milliseconds since 1970.
    quiet: Arc<AtomicI64>,
    /// When leases from the future are looked for again.
    healing: Mutex<Option<Instant>>,
}

impl Engine {
    /// Begins a ledger in an empty store. The project's first event is the caller's to ask for.
    pub fn create(store: Box<dyn Store>, project: &str) -> ledger::Result<Self> {
        Ok(Self::over(Ledger::create(store, Arc::new(Meaning), project)?))
    }

    /// Opens the ledger that is in a store.
    pub fn open(store: Box<dyn Store>) -> ledger::Result<Self> {
        Ok(Self::over(Ledger::open(store, Arc::new(Meaning))?))
    }

    fn over(ledger: Ledger) -> Self {
        Self { ledger, quiet: Arc::new(AtomicI64::new(i64::MIN)), healing: Mutex::default() }
    }

    /// The same, with more or less patience for the writer's place.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { ledger: self.ledger.with_patience(patience), ..self }
    }

    /// The ledger, to read from.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Events as they are stored.
    pub fn stored(&self, first: u64, last: u64) -> ledger::Result<Vec<Stored>> {
        let count = usize::try_from(last.saturating_sub(first) + 1).unwrap_or(usize::MAX);
        self.ledger.events(first, None, count)?.into_iter().map(Stored::of).collect()
    }

    /// An event as somebody may see it.
    pub fn disclosed(&self, call: &Call, event: Stored) -> Stored {
        disclose::event(call, event)
    }

    /// What an entity is.
    pub fn entity(&self, key: &Key) -> ledger::Result<Option<Found>> {
        let found = self.ledger.get(&[meaning::ledger_key(key)])?;
        Ok(found.into_iter().flatten().next().map(meaning::found))
    }

    /// The texts of an event; what was erased is none.
    pub fn texts(&self, seq: u64) -> ledger::Result<Vec<StoredText>> {
        Ok(self.ledger.texts(seq)?.into_iter().map(StoredText::of).collect())
    }
}
