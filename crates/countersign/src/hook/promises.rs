//! Promises that somebody who wants to end has begun and not kept.

use super::Desk;
use countersign_contract::show;
use serde_json::{Value, json};

/// How many promises are looked at, the newest first.
const LOOKED_AT_MAX: u64 = 1000;

/// A promise in progress that is not through its gates.
pub(super) struct Unkept {
    /// Its id.
    id: String,
    /// The gate that holds it back, and why.
    reason: String,
    /// Whether only a person can go on with it.
    pub(super) waits_for_a_person: bool,
}

impl Unkept {
    /// What it is counted under among the numbers of leases, which stay far below.
    pub(super) fn number(&self) -> u64 {
        let hex = self.id.strip_prefix("promise-").unwrap_or_default();
        u64::from_str_radix(hex, 16).unwrap_or(0) | 1 << 40
    }

    /// The same in words.
    pub(super) fn in_words(&self) -> String {
        format!("{} ({})", self.id, self.reason)
    }
}

/// The promises that the actor has begun and not kept.
pub(super) fn unkept(desk: &Desk<'_>) -> anyhow::Result<Vec<Unkept>> {
    let all = desk.look("promise.list", &json!({ "limit": LOOKED_AT_MAX }))?;
    let is_mine = |it: &&Value| it["owned_by"] == desk.actor.as_str() && it["status"] == "in_progress";
    let mut unkept = Vec::new();
    for promise in all["promises"].as_array().into_iter().flatten().filter(is_mine) {
        let shown = desk.look("gate.status", &json!({ "promise_id": promise["promise_id"] }))?;
        if shown["passed"] == true {
            continue;
        }
        let text = |name: &str| show(shown[name].as_str().unwrap_or_default());
        let gate = shown["gate"].as_u64().unwrap_or(0);
        unkept.push(Unkept {
            id: text("promise_id"),
            reason: format!("gate {gate}: {}", text("reason")),
            waits_for_a_person: shown["waits_for_a_person"] == true,
        });
    }
    Ok(unkept)
}
