//! What is known of a project and its records, folded from events.

use super::event::{PROJECT_INITIALISED, RECORD_KEPT, TEXT_ERASED, TOKEN_MADE, TOKEN_REVOKED};
use crate::deciding::{Happened, Key, Place};
use serde_json::{Value, json};

/// The project itself.
pub fn project_key() -> Key {
    Key::new("project", "this")
}

/// A record by its id.
pub fn record_key(id: &str) -> Key {
    Key::new("record", id)
}

/// A token by its id.
pub fn token_key(id: &str) -> Key {
    Key::new("token", id)
}

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    let record = || event.facts["record"].as_str().map(record_key);
    match event.kind {
        PROJECT_INITIALISED => vec![project_key()],
        RECORD_KEPT | TEXT_ERASED => record().into_iter().collect(),
        TOKEN_MADE | TOKEN_REVOKED => event.facts["token"].as_str().map(token_key).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// What an entity is after an event.
pub fn evolve(_: &Key, before: Option<&Value>, event: &Happened<'_>) -> Option<Value> {
    let facts = event.facts;
    match event.kind {
        PROJECT_INITIALISED => Some(json!({ "name": facts["name"], "project": facts["project"], "since": event.time })),
        RECORD_KEPT => Some(json!({
            "by": event.actor,
            "contract": facts["contract"],
            "erased": false,
            "file": facts["file"],
            "kept": event.seq,
            "size": facts["size"],
        })),
        TEXT_ERASED => {
            let mut record = before?.clone();
            record["erased"] = json!(true);
            Some(record)
        }
        TOKEN_MADE => Some(json!({
            "actor": facts["actor"], "made": event.seq, "revoked": false, "role": facts["role"],
        })),
        TOKEN_REVOKED => {
            let mut token = before.cloned().unwrap_or_else(|| json!({}));
            token["revoked"] = json!(true);
            Some(token)
        }
        _ => before.cloned(),
    }
}

/// Where an entity is found.
pub fn places(key: &Key, facts: &Value) -> Vec<Place> {
    let (Some(contract), Some(kept)) = (facts["contract"].as_str(), facts["kept"].as_u64()) else { return Vec::new() };
    if key.kind != "record" {
        return Vec::new();
    }
    // By contract, in the order in which they were kept.
    let at = [contract.as_bytes(), &[0], &kept.to_be_bytes()].concat();
    vec![Place { index: "record_by_contract", at }]
}
