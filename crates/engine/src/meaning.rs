//! What events mean to the ledger: the domains' folds, behind its trait.

use countersign_domain::deciding::{Facts, Found, Happened, Key, Place, VERSION};
use countersign_domain::places_if_any;
use countersign_ledger as ledger;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The version of everything that is folded. It grows when a fold gives another answer than before; then ledgers are
/// rebuilt.
pub const SHAPE: u32 = 14;

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
        let before = before.map(facts_of);
        let domain = domain_key(key);
        let after = with(event, |happened| countersign_domain::evolve(&domain, before.as_deref(), happened))??;
        let (matter, class) = (event.matter.into(), event.class.into());
        let facts = Arc::clone(after.text());
        AT_HAND.keep(key, Arc::new(after));
        Some(ledger::State { matter, class, facts })
    }

    fn places(&self, entity: &ledger::Entity) -> Vec<ledger::Place> {
        countersign_domain::places(&domain_key(&entity.key), &facts_of(entity)).iter().map(ledger_place).collect()
    }

    /// Of the many places of a task an event changes a few, and only those are told.
    fn moves(
        &self,
        key: &ledger::Key,
        before: Option<&ledger::Entity>,
        after: Option<&ledger::Entity>,
    ) -> ledger::Moves {
        let (key, before, after) = (domain_key(key), before.map(facts_of), after.map(facts_of));
        let (old, new) = (places_if_any(&key, before.as_deref()), places_if_any(&key, after.as_deref()));
        ledger::Moves { left: other(old, new), taken: other(new, old) }
    }
}

/// The facts of an entity as they were read before. They are asked for before and after each event that changes it, and once
/// more by whoever looks it up: to read them each time was most of what a fold did.
static AT_HAND: AtHand = AtHand(Mutex::new(None));

struct AtHand(Mutex<Option<Shelf>>);

/// What is at hand, and how long it is in all.
#[derive(Default)]
struct Shelf {
    facts: HashMap<ledger::Key, Latest>,
    bytes: usize,
}

/// The facts of an entity that were read or made last, and those before: an event's places follow from both.
struct Latest {
    last: Arc<Facts>,
    before: Option<Arc<Facts>>,
}

impl AtHand {
    /// How many are kept at hand: those of the entities that are worked on.
    const MAX: usize = 2 * 1024;
    /// How long each of them may be.
    const BYTES_MAX: usize = 4 * 1024;
    /// How long all of them together, with their names. What is made of a text when it is read takes a few times as much.
    const BYTES_MAX_IN_ALL: usize = 8 * 1024 * 1024;

    fn find(&self, entity: &ledger::Entity) -> Option<Arc<Facts>> {
        let shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shelf.as_ref()?.facts.get(&entity.key)?;
        // They may be another ledger's, or of a command that was refused in the end.
        let is_same = |text: &Arc<str>| Arc::ptr_eq(text, &entity.facts) || *text == entity.facts;
        let is_meant = |facts: &&Arc<Facts>| is_same(facts.text());
        [Some(&known.last), known.before.as_ref()].into_iter().flatten().find(is_meant).cloned()
    }

    fn keep(&self, key: &ledger::Key, facts: Arc<Facts>) {
        if facts.text().len() > Self::BYTES_MAX {
            return;
        }
        let mut shelf = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.get_or_insert_default().put(key, facts);
    }
}

impl Shelf {
    fn put(&mut self, key: &ledger::Key, facts: Arc<Facts>) {
        let room = |facts: &Facts| facts.text().len() + key.kind.len() + key.id.len();
        let more = room(&facts);
        if self.facts.len() >= AtHand::MAX || self.bytes + more > AtHand::BYTES_MAX_IN_ALL {
            *self = Self::default();
        }
        let before = self.facts.remove(key);
        self.bytes = self.bytes + more - before.as_ref().and_then(|it| it.before.as_ref()).map_or(0, |it| room(it));
        let before = before.map(|known| known.last);
        self.facts.insert(key.clone(), Latest { last: facts, before });
    }
}

fn facts_of(entity: &ledger::Entity) -> Arc<Facts> {
    AT_HAND.find(entity).unwrap_or_else(|| {
        let facts = Arc::new(Facts::of_text(Arc::clone(&entity.facts)));
        AT_HAND.keep(&entity.key, Arc::clone(&facts));
        facts
    })
}

/// Those that are not among some.
fn other(all: &[Place], some: &[Place]) -> Vec<ledger::Place> {
    all.iter().filter(|place| !some.contains(place)).map(ledger_place).collect()
}

fn ledger_place(place: &Place) -> ledger::Place {
    ledger::Place { index: place.index.into(), at: place.at.clone() }
}

fn domain_key(key: &ledger::Key) -> Key {
    Key::new(key.kind.clone(), key.id.clone())
}

pub(crate) fn ledger_key(key: &Key) -> ledger::Key {
    ledger::Key::new(key.kind.clone(), key.id.clone())
}

/// An entity as a domain sees it.
pub(crate) fn found(entity: ledger::Entity) -> Found {
    let (version, seq) = (entity.version, entity.seq);
    let facts = AT_HAND.find(&entity).unwrap_or_else(|| Arc::new(Facts::of_text(entity.facts)));
    Found { version, seq, facts }
}

/// The same for somebody who is about to change it: what they read of it is read no more when it is folded.
pub(crate) fn to_be_changed(entity: &ledger::Entity) -> Found {
    Found { version: entity.version, seq: entity.seq, facts: facts_of(entity) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use ledger::{Entity, Fold, Moves, Place};
    use serde_json::{Value, json};

    fn task(id: &str, change: Value) -> Entity {
        let mut facts = json!({
            "asked": 1, "attempt": 0, "order": 1, "run": "r", "status": "todo", "task": id, "timeout_seconds": 60,
            "waiting_for": [],
            "spec": {
                "context": [], "criteria": 1, "dependencies": [], "forbidden_scope": [], "heartbeat_interval_seconds": 30,
                "kind": "serial", "lock_scope": ["src/a.rs", "src/b.rs"], "priority": "normal", "timeout_seconds": 60,
                "title": "t", "worklog_path": "w.jsonl",
            },
        });
        for (name, value) in change.as_object().into_iter().flatten() {
            facts[name] = value.clone();
        }
        let key = ledger::Key::new("task", format!("r/{id}"));
        let [matter, class] = ["main", "internal"].map(Into::into);
        let facts = countersign_contract::canonical(&facts).into();
        Entity { key, seq: 1, version: 1, birth: 1, shape: SHAPE, matter, class, facts }
    }

    fn sorted(mut places: Vec<Place>) -> Vec<Place> {
        places.sort();
        places
    }

    #[test]
    fn what_moves_is_that_by_which_places_differ() {
        let todo = task("T-1", json!({}));
        let begun =
            task("T-1", json!({ "status": "in_progress", "owner": "ana", "attempt": 1, "lease": 7, "last": 7 }));
        let done = task("T-1", json!({ "status": "done", "owner": "ana", "attempt": 1, "last": 9 }));
        let cases =
            [(None, Some(&todo)), (Some(&todo), Some(&begun)), (Some(&begun), Some(&done)), (Some(&done), None)];
        for (before, after) in cases {
            let places = |entity: Option<&Entity>| entity.map_or_else(Vec::new, |it| Meaning.places(it));
            let (old, new) = (places(before), places(after));
            let without = |one: &[Place], two: &[Place]| one.iter().filter(|it| !two.contains(it)).cloned().collect();
            let Moves { left, taken } = Meaning.moves(&todo.key, before, after);
            assert!(!left.is_empty() || !taken.is_empty(), "{before:?} {after:?}");
            assert_eq!((sorted(left), sorted(taken)), (sorted(without(&old, &new)), sorted(without(&new, &old))));
        }
    }

    #[test]
    fn facts_are_at_hand_before_and_after_a_change_and_never_anothers() {
        let (before, after) = (task("T-2", json!({})), task("T-2", json!({ "attempt": 1 })));
        let (one, two) = (facts_of(&before), facts_of(&after));
        assert!(Arc::ptr_eq(&one, &facts_of(&before)) && Arc::ptr_eq(&two, &facts_of(&after)));
        let other = task("T-2", json!({ "attempt": 2 }));
        assert_eq!(*facts_of(&other).text(), other.facts);
    }

    #[test]
    fn what_is_at_hand_is_bounded_in_all_and_counted_as_it_is() {
        let mut shelf = Shelf::default();
        let facts = |bytes: usize| Arc::new(Facts::of_text(format!("\"{}\"", "x".repeat(bytes))));
        let held = |shelf: &Shelf| -> usize {
            let room = |key: &ledger::Key, facts: &Facts| key.kind.len() + key.id.len() + facts.text().len();
            let both = |it: &Latest| std::iter::once(Arc::clone(&it.last)).chain(it.before.clone()).collect::<Vec<_>>();
            shelf.facts.iter().map(|(key, it)| both(it).iter().map(|facts| room(key, facts)).sum::<usize>()).sum()
        };
        for number in 0..20_000 {
            // Some are changed again and again, and longer or shorter than before.
            let id = if number % 3 == 0 { "same".to_owned() } else { format!("entity-{number}") };
            shelf.put(&ledger::Key::new("task", id), facts(2000 + number % 2000));
            assert!(shelf.bytes <= AtHand::BYTES_MAX_IN_ALL && shelf.facts.len() <= AtHand::MAX);
            if number % 500 == 0 {
                assert_eq!(shelf.bytes, held(&shelf));
            }
        }
    }
}
