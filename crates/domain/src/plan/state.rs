//! Which plan a run follows, folded from events.

use super::event::PLAN_ADOPTED;
use crate::deciding::{Happened, Key};
use serde_json::{Value, json};

/// A run's plan among entities.
pub(super) fn plan_key(run: &str) -> Key {
    Key::new("plan", run)
}

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    let run = event.facts["run"].as_str().filter(|_| event.kind == PLAN_ADOPTED);
    run.map(plan_key).into_iter().collect()
}

/// What a plan is after an event: where it stands.
pub fn evolve(event: &Happened<'_>) -> Option<Value> {
    Some(json!({ "sha256": event.facts["sha256"], "seq": event.seq }))
}
