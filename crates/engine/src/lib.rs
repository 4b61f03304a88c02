//! The one road of a command, from what is asked to what was recorded.
//!
//! ```text
//! call ─▶ known key? ─▶ needs ─▶ load ─▶ decide ─▶ append ─▶ commit ─▶ answer, read back from the ledger
//!            └─▶ the same answer again        └─▶ refused, which is recorded too
//! ```
//!
//! `domain` decides and knows no store; `ledger` stores and knows no domain; this crate knows both, and is the only one.
//!
//! **Invariant:** everything between the key and the append happens inside one write transaction.
//! **Invariant:** an answer is made from the stored events, never from the request.
//! **Absent on purpose:** terminals, HTTP, processes, files.

mod meaning;
mod refusals;
mod stored;

pub use meaning::{Meaning, SHAPE};
pub use stored::{Stored, StoredText};

use countersign_domain::deciding::{Command, Context, Found, Happening, Key, ROUNDS_MAX, Refusal, Seen};
use countersign_ledger as ledger;
use ledger::{Hash, Ledger, Once, RowKey, Store, Transaction};
use rand_core::RngCore;
use std::sync::Arc;

/// The code of a command that was carried out.
pub const OK: &str = "OK";

/// A project's ledger, with what its events mean.
pub struct Engine {
    ledger: Ledger,
}

/// Who asks, and how often it is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Who.
    pub actor: String,
    /// How that is known: `declared` or `terminal`.
    pub authn: String,
    /// What makes a repetition of it the same call.
    pub key: Option<String>,
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The events that it recorded, as they were stored. None, if everything was so already.
    pub events: Vec<Stored>,
    /// Whether they were recorded by an earlier call with the same key.
    pub repeated: bool,
}

/// Why a command was not carried out.
#[derive(Debug)]
pub enum Failure {
    /// It was understood, and the answer is no.
    Refused(Refusal),
    /// The ledger could not take it.
    Ledger(ledger::Error),
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        Self::Ledger(error)
    }
}

/// What happened inside of the transaction.
enum Outcome {
    Recorded { first: u64, last: u64, repeated: bool },
    Nothing,
    Refused(Refusal),
}

impl Engine {
    /// Begins a ledger in an empty store. The project's first event is the caller's to ask for.
    pub fn create(store: Box<dyn Store>, project: &str) -> ledger::Result<Self> {
        Ok(Self { ledger: Ledger::create(store, Arc::new(Meaning), project)? })
    }

    /// Opens the ledger that is in a store.
    pub fn open(store: Box<dyn Store>) -> ledger::Result<Self> {
        Ok(Self { ledger: Ledger::open(store, Arc::new(Meaning))? })
    }

    /// The ledger, to read from.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Carries a command out, once and durably, or says why not.
    pub fn submit<C: Command>(&self, call: &Call, request: Hash, command: C) -> Result<Answer, Failure> {
        let once = call.key.clone().map(|key| Once { key, request, code: OK.to_owned() });
        let asked = ledger::Command {
            actor: call.actor.clone(),
            authn: call.authn.clone(),
            name: C::NAME.to_owned(),
            once,
            under: None,
        };
        let project = self.ledger.project().to_owned();
        let looks_at = looks_at(&asked, &command);
        let work = move |transaction: &mut Transaction<'_>| carry_out(transaction, &asked, &project, &command);
        let outcome = self.ledger.write_looking_at(looks_at, work)?;
        match outcome {
            Outcome::Recorded { first, last, repeated } => Ok(Answer { events: self.stored(first, last)?, repeated }),
            Outcome::Nothing => Ok(Answer { events: Vec::new(), repeated: false }),
            Outcome::Refused(refusal) => Err(Failure::Refused(refusal)),
        }
    }

    /// Records that a command was refused before it could be decided, because its payload may not pass.
    pub fn refuse(&self, call: &Call, name: &str, refusal: &Refusal) -> Result<(), Failure> {
        let asked = ledger::Command {
            actor: call.actor.clone(),
            authn: call.authn.clone(),
            name: name.to_owned(),
            once: None,
            under: None,
        };
        let refusal = refusal.clone();
        Ok(self.ledger.write(move |transaction| refusals::record(transaction, &asked, &refusal))?)
    }

    /// Events as they are stored.
    pub fn stored(&self, first: u64, last: u64) -> ledger::Result<Vec<Stored>> {
        let count = usize::try_from(last.saturating_sub(first) + 1).unwrap_or(usize::MAX);
        self.ledger.events(first, None, count)?.into_iter().map(Stored::of).collect()
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

fn carry_out<C: Command>(
    transaction: &mut Transaction<'_>,
    asked: &ledger::Command,
    project: &str,
    command: &C,
) -> ledger::Result<Outcome> {
    if let Some(done) = transaction.remembered(asked)? {
        return Ok(Outcome::Recorded { first: done.first, last: done.last, repeated: true });
    }
    let seen = look_up(transaction, command)?;
    let context = Context {
        now: transaction.now().to_string(),
        actor: asked.actor.clone(),
        project: project.to_owned(),
        new_id: uuid::Uuid::now_v7().to_string(),
    };
    match command.decide(&seen, &context) {
        Err(refusal) => {
            refusals::record(transaction, asked, &refusal)?;
            Ok(Outcome::Refused(refusal))
        }
        Ok(happenings) if happenings.is_empty() => Ok(Outcome::Nothing),
        Ok(happenings) => {
            let recorded = transaction.append(asked, happenings.into_iter().map(draft).collect())?;
            Ok(Outcome::Recorded { first: recorded.first, last: recorded.last, repeated: false })
        }
    }
}

/// What a command will look at first: its idempotency key, and what it asks for before it has seen anything.
fn looks_at(asked: &ledger::Command, command: &impl Command) -> Vec<RowKey> {
    let once = asked.once.as_ref().map(|once| [asked.actor.clone(), asked.name.clone(), once.key.clone()]);
    let needs = command.needs(&Seen::default());
    once.map(RowKey::Remembered)
        .into_iter()
        .chain(needs.iter().map(|key| RowKey::Entity(meaning::ledger_key(key))))
        .collect()
}

/// Shows a command what it asks for, until it asks for nothing more.
fn look_up(transaction: &mut Transaction<'_>, command: &impl Command) -> ledger::Result<Seen> {
    let mut seen = Seen::default();
    for _ in 0..ROUNDS_MAX {
        let wanted: Vec<Key> = command.needs(&seen).into_iter().filter(|key| !seen.has(key)).collect();
        if wanted.is_empty() {
            return Ok(seen);
        }
        let keys: Vec<_> = wanted.iter().map(meaning::ledger_key).collect();
        for (key, entity) in wanted.into_iter().zip(transaction.get(&keys)?) {
            seen.add(key, entity.map(meaning::found));
        }
    }
    Ok(seen)
}

/// The matter of everything, until matters can be told apart.
const MATTER: &str = "main";

fn draft(happening: Happening) -> ledger::Draft {
    ledger::Draft {
        id: uuid::Uuid::now_v7().to_string(),
        kind: happening.kind.to_owned(),
        v: happening.v,
        cause: None,
        run: happening.run,
        matter: MATTER.to_owned(),
        class: happening.class.to_owned(),
        taint: happening.taint.to_owned(),
        facts: countersign_contract::canonical(&happening.facts),
        texts: happening.texts.into_iter().map(|text| salted(&text)).collect(),
        lease: None,
        erase: happening.erase,
    }
}

fn salted(text: &countersign_contract::Untrusted<String>) -> ledger::Text {
    let mut salt = [0; 16];
    rand_core::OsRng.fill_bytes(&mut salt);
    ledger::Text { salt, body: text.inspect(|text| text.as_bytes().to_vec()) }
}
