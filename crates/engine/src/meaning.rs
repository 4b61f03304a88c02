//! What events mean to the ledger: the domains' folds, behind its trait.

use countersign_domain::deciding::{Found, Happened, Key};
use countersign_ledger as ledger;
use serde_json::Value;

/// The version of everything that is folded. It grows when a fold gives another answer than before; then ledgers are
/// rebuilt.
pub const SHAPE: u32 = 4;

/// The domains' folds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meaning;

/// Hands an event to a domain. One whose facts cannot be read as JSON was never appended by us; it means nothing.
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
        let after = with(event, |happened| countersign_domain::evolve(&key, before.as_ref(), happened))??;
        let (matter, class) = (event.matter.to_owned(), event.class.to_owned());
        Some(ledger::State { matter, class, facts: countersign_contract::canonical(&after) })
    }

    fn places(&self, entity: &ledger::Entity) -> Vec<ledger::Place> {
        let places = countersign_domain::places(&domain_key(&entity.key), &facts_of(&entity.facts));
        places.into_iter().map(|place| ledger::Place { index: place.index.to_owned(), at: place.at }).collect()
    }
}

fn facts_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn domain_key(key: &ledger::Key) -> Key {
    Key::new(key.kind.clone(), key.id.clone())
}

pub(crate) fn ledger_key(key: &Key) -> ledger::Key {
    ledger::Key::new(key.kind.clone(), key.id.clone())
}

pub(crate) fn found(entity: ledger::Entity) -> Found {
    Found { version: entity.version, seq: entity.seq, facts: facts_of(&entity.facts) }
}
