//! Renewing what a document says about itself, without vouching for what it said wrongly before.

use crate::contract::ContractInfo;
use countersign_diagnostic::Pointer;
use serde_json::Value;

/// Seals `changed`, but leaves every hash and size that did not fit the document it came from. One that was wrong before
/// anything was repaired is a finding for a person; computing it again would make it look as if it had always been
/// right. Estimates are renewed, and so is what a repair has put in place itself.
pub fn seal(contract: &ContractInfo, original: &Value, changed: &mut Value) {
    seal_with(contract.seal, contract.estimates, original, changed);
}

fn seal_with(seal: fn(&mut Value), estimates: &[&str], original: &Value, changed: &mut Value) {
    let mut sealed = original.clone();
    seal(&mut sealed);
    let mut wrong = Vec::new();
    differing(original, &sealed, Pointer::root(), &mut wrong);
    wrong.retain(|(pointer, value)| {
        !estimates.contains(&pointer.as_str()) && changed.pointer(pointer.as_str()) == Some(value)
    });
    seal(changed);
    for (pointer, value) in wrong {
        if let Some(place) = changed.pointer_mut(pointer.as_str()) {
            place.clone_from(value);
        }
    }
}

/// Where a value of one differs from that of the other, with the first one's. The two differ in nothing but values.
fn differing<'v>(one: &'v Value, other: &Value, at: Pointer, found: &mut Vec<(Pointer, &'v Value)>) {
    match (one, other) {
        (Value::Object(members), Value::Object(others)) => {
            for (key, member) in members {
                if let Some(other) = others.get(key).filter(|other| *other != member) {
                    differing(member, other, at.clone().key(key), found);
                }
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                differing(item, other, at.clone().item(index), found);
            }
        }
        (one, other) if one != other => found.push((at, one)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sum(document: &mut Value) {
        let text = document["text"].as_str().unwrap_or_default().to_owned();
        document["length"] = text.len().into();
        document["about"] = text.len().into();
        document["hash"] = format!("hash of {text}").into();
    }

    #[test]
    fn a_hash_or_size_is_renewed_only_where_it_was_right_before() {
        let changed = json!({"text": "bc", "length": 1, "about": 9, "hash": "hash of a"});
        let cases = [
            (json!({"text": "a", "length": 1, "about": 9, "hash": "hash of a"}), 2, "hash of bc"),
            (json!({"text": "tampered", "length": 1, "about": 9, "hash": "hash of a"}), 1, "hash of a"),
            (json!({"text": "a", "length": 7, "about": 9, "hash": "replaced by a repair"}), 2, "hash of bc"),
        ];
        for (original, length, hash) in cases {
            let mut changed = changed.clone();
            seal_with(sum, &["/about"], &original, &mut changed);
            assert_eq!(changed, json!({"text": "bc", "length": length, "about": 2, "hash": hash}), "{original}");
        }
    }
}
