//! Trying an action of a plan again: the same instruction under an id that is made from its own, so that whoever comes after a
//! crash makes the same one.
//!
//! ```text
//! DI-2025-12-25-001 ─▶ DI-2025-12-25-1000001 ─▶ DI-2025-12-25-2000001 ─▶ …
//! ```

use super::plain;
use countersign_contract::{canonical, sha256_hex};
use serde_json::{Value, json};

/// By how much the numbers of two tries differ. An id that is tried again is below it.
const STEP: u64 = 1_000_000;
/// How many tries there can be: the first, those that follow by themselves, and those that people ask for.
pub(crate) const TRIES_MAX: u64 = 16;

/// The id of a try; the first has number 0. None, if there is none left.
pub fn id_of_try(id: &str, number: u64) -> Option<String> {
    if number == 0 {
        return Some(id.to_owned());
    }
    let (day, sequence) = id.rsplit_once('-')?;
    let sequence: u64 = sequence.parse().ok().filter(|sequence| *sequence < STEP)?;
    (number < TRIES_MAX).then(|| format!("{day}-{}", number * STEP + sequence))
}

/// What all tries of an instruction have in common, made from the id of any.
pub(crate) fn first_id(id: &str) -> String {
    let parts = id.rsplit_once('-').and_then(|(day, sequence)| Some((day, sequence.parse::<u64>().ok()?)));
    match parts {
        Some((day, sequence)) => format!("{day}-{}", sequence % STEP),
        None => id.to_owned(),
    }
}

/// Whether an id is that of an instruction, or of a try of it.
pub(crate) fn is_try_of(id: &str, first: &str) -> bool {
    (0..TRIES_MAX).any(|number| id_of_try(first, number).as_deref() == Some(id))
}

/// What an instruction does to what, whoever asks for it and why, and however it is written: as a hash.
pub fn deed(instruction: &Value) -> String {
    digest(&json!([plain::repository(instruction), plain::deed(instruction)]))
}

/// The same for what git does, which is in the repository of the project, whatever an instruction calls that.
pub fn deed_here(instruction: &Value) -> String {
    digest(&json!(["here", plain::deed(instruction)]))
}

/// What an instruction is for, as a hash: the same for every one of a requester that asks for the same for the same reason.
pub fn end(instruction: &Value) -> String {
    digest(&json!([requester(instruction), requirement(instruction), plain::action(instruction)]))
}

/// What an instruction and those that correct it have in common, as a hash: who asks, what for, and what kind of action.
pub fn concern(instruction: &Value) -> String {
    let kind = &instruction["ACTION"]["TYPE"];
    digest(&json!(["concern", requester(instruction), requirement(instruction), kind]))
}

/// Who asks, and where. Not on what authority: whoever lacked it is the same when they claim more.
fn requester(instruction: &Value) -> Value {
    let given = &instruction["REQUESTER"];
    let (kind, name) = (plain::name(&given["AGENT_TYPE"]), plain::name(&given["AGENT_INSTANCE_ID"]));
    json!([kind, name, plain::repository(instruction)])
}

/// What it is asked for.
fn requirement(instruction: &Value) -> Value {
    plain::name(&instruction["AUDIT_CONTEXT"]["REQUIREMENT_ID"])
}

/// The instruction of a try.
pub fn instruction_of_try(written: &Value, number: u64) -> Option<Value> {
    let id = id_of_try(written["INSTRUCTION_ID"].as_str()?, number)?;
    let mut instruction = written.clone();
    instruction["INSTRUCTION_ID"] = json!(id);
    Some(instruction)
}

/// What an instruction is known by: the hash of its canonical form.
pub fn digest(instruction: &Value) -> String {
    sha256_hex(canonical(instruction).as_bytes())
}

/// What the instruction of each try is known by. Whoever decides sees no texts, and tells by these what is the same.
pub fn digests(written: &Value) -> Vec<String> {
    (0..TRIES_MAX).map_while(|number| instruction_of_try(written, number)).map(|it| digest(&it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::payload::InstructionId;

    #[test]
    fn each_try_has_an_id_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
        for first in ["DI-2025-12-25-000", "DI-2025-12-25-001", "DI-2025-12-25-999999"] {
            for number in 0..TRIES_MAX {
                let id = id_of_try(first, number).unwrap();
                assert!(InstructionId::parse(&id).is_some() && seen.insert(id.clone()), "{id}");
                assert_eq!(first_id(&id), first_id(first));
                assert!(is_try_of(&id, first));
            }
            assert_eq!(id_of_try(first, TRIES_MAX), None);
        }
        assert_eq!(id_of_try("DI-2025-12-25-1000000", 1), None);
        for other in ["DI-2025-12-26-001", "DI-2025-12-25-002", "DI-2025-12-25-1", "DI-2025-12-25-16000001", "x"] {
            assert!(!is_try_of(other, "DI-2025-12-25-001"), "{other}");
        }
    }
}
