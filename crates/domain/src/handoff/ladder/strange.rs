//! The first rung: what the schema does not have leaves the handoff, and is kept.
//!
//! A field that no spelling explains, where the contract is closed, is moved. A confidence that is no word of the schema becomes the
//! default. What sort of problem it is has no default: that is for its author to say.

use super::keep::Keeper;
use crate::handoff::payload::{Confidence, HandoffBody, UniversalHandoff};
use countersign_contract::diagnostic::{Decision, Pointer, Severity};
use countersign_contract::fix::Climb;
use countersign_contract::rules::{CHOICE_UNKNOWN, FIELD_NOT_ALLOWED};
use countersign_contract::serde_json::Value;

const CONFIDENCE: &str = "/handoff/meta/confidence";

/// Whether something stands there that the schema does not have, and that this rung can move.
pub(super) fn helps(decision: &Decision) -> bool {
    decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error).any(|it| {
        it.rule == FIELD_NOT_ALLOWED.id || (it.rule == CHOICE_UNKNOWN.id && it.pointer.as_str() == CONFIDENCE)
    })
}

/// Moves what is strange to where it is kept.
pub(super) fn climb(document: &mut Value, climb: &mut Climb<'_>) -> Vec<String> {
    let strange: Vec<Pointer> = [("", UniversalHandoff::FIELDS), ("/handoff", HandoffBody::FIELDS)]
        .into_iter()
        .flat_map(|(owner, known)| {
            let names = document.pointer(owner).and_then(Value::as_object).into_iter().flat_map(|it| it.keys());
            names.filter(|name| !known.contains(&name.as_str())).map(move |name| Pointer::at(owner).key(name))
        })
        .collect();
    let word = document.pointer(CONFIDENCE).and_then(Value::as_str);
    let unsure = word.is_some_and(|word| Confidence::parse(word).is_none());
    let Some(mut keeper) = Keeper::new(document, climb) else { return Vec::new() };
    strange.iter().for_each(|pointer| keeper.take(pointer));
    if unsure {
        keeper.replace(&Pointer::at(CONFIDENCE), Confidence::Medium.as_str().into());
    }
    keeper.into_changes()
}
