//! What events mean to the ledger: the domains' folds, behind its trait.

use countersign_domain::deciding::{Found, Happened, Key, VERSION};
use countersign_ledger as ledger;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

/// The version of everything that is folded. It grows when a fold gives another answer than before; then ledgers are
/// rebuilt.
pub const SHAPE: u32 = 11;

/// The domains' folds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meaning;

/// Hands an event to a domain. One whose facts cannot be read as JSON was never appended by us; it means nothing.
///
/// All facts are of version 1. Whoever changes what the facts of a kind look like brings older ones into the new form here, so
/// that domains know one form only.
fn with<T>(event: &ledger::Event<'_>, look: impl FnOnce(&Happened<'_>) -> T) -> Option<T> {
    let facts = event.facts()?;
    let time = event.time.to_string();
    let happened = Happened { seq: event.seq, kind: event.kind, v: event.v, actor: event.actor, time: &time, facts };
    Some(look(&happened))
}

impl ledger::Fold for Meaning {
    fn shape(&self) -> u32 {
        SHAPE
    }

    fn version(&self, _: &str) -> u32 {
        VERSION
    }

    fn touched(&self, event: &ledger::Event<'_>) -> Vec<ledger::Key> {
        let touched = with(event, countersign_domain::touched).unwrap_or_default();
        touched.iter().map(ledger_key).collect()
    }

    fn evolve(
        &self,
        key: &ledger::Key,
        before: Option<&ledger::Entity>,
        event: &ledger::Event<'_>,
    ) -> Option<ledger::State> {
        let before = before.map(|entity| facts_of(&entity.facts));
        let key = domain_key(key);
        let after = with(event, |happened| countersign_domain::evolve(&key, before.as_deref(), happened))??;
        let (matter, class) = (event.matter.to_owned(), event.class.to_owned());
        let facts = countersign_contract::canonical(&after);
        keep(&facts, Arc::new(after));
        Some(ledger::State { matter, class, facts })
    }

    fn places(&self, entity: &ledger::Entity) -> Vec<ledger::Place> {
        let places = countersign_domain::places(&domain_key(&entity.key), &facts_of(&entity.facts));
        places.into_iter().map(|place| ledger::Place { index: place.index.to_owned(), at: place.at }).collect()
    }
}

/// How many facts a thread keeps at hand as they were read: those of the entities that the commands of a commit change.
const AT_HAND_MAX: usize = 64;
/// How long they may be.
const AT_HAND_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    /// The facts of an entity are asked for before and after each event that changes it, and once more by whoever looks it up:
    /// to read them each time was most of what a fold did.
    static AT_HAND: RefCell<VecDeque<(String, Arc<Value>)>> = const { RefCell::new(VecDeque::new()) };
}

fn at_hand(text: &str) -> Option<Arc<Value>> {
    AT_HAND.with_borrow(|all| all.iter().find(|(known, _)| known == text).map(|(_, value)| Arc::clone(value)))
}

fn keep(text: &str, value: Arc<Value>) {
    if text.len() > AT_HAND_BYTES_MAX {
        return;
    }
    AT_HAND.with_borrow_mut(|all| {
        all.truncate(AT_HAND_MAX - 1);
        all.push_front((text.to_owned(), value));
    });
}

fn facts_of(text: &str) -> Arc<Value> {
    at_hand(text).unwrap_or_else(|| {
        let value = Arc::new(read(text));
        keep(text, Arc::clone(&value));
        value
    })
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn domain_key(key: &ledger::Key) -> Key {
    Key::new(key.kind.clone(), key.id.clone())
}

pub(crate) fn ledger_key(key: &Key) -> ledger::Key {
    ledger::Key::new(key.kind.clone(), key.id.clone())
}

pub(crate) fn found(entity: ledger::Entity) -> Found {
    Found {
        version: entity.version,
        seq: entity.seq,
        facts: at_hand(&entity.facts).unwrap_or_else(|| Arc::new(read(&entity.facts))),
    }
}
