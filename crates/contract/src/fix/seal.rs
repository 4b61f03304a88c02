//! Renewing what a document says about itself, without vouching for what it said wrongly before.

use countersign_diagnostic::Pointer;
use serde_json::Value;

/// Seals `changed`, but leaves every text that did not fit the document it came from. A hash that was wrong before
/// anything was repaired is a finding for a person; computing it again would make it look as if it had always been
/// right. Numbers are counts and are renewed, and so is what a repair has put in place itself.
pub(super) fn seal(seal: fn(&mut Value), original: &Value, changed: &mut Value) {
    let mut sealed = original.clone();
    seal(&mut sealed);
    let mut wrong = Vec::new();
    differing_texts(original, &sealed, Pointer::root(), &mut wrong);
    wrong.retain(|(pointer, text)| changed.pointer(pointer.as_str()).and_then(Value::as_str) == Some(text));
    seal(changed);
    for (pointer, text) in wrong {
        if let Some(place) = changed.pointer_mut(pointer.as_str()) {
            *place = text.into();
        }
    }
}

/// Where a text of one differs from that of the other, with the first one's. The two differ in nothing but values.
fn differing_texts<'v>(one: &'v Value, other: &Value, at: Pointer, found: &mut Vec<(Pointer, &'v str)>) {
    match (one, other) {
        (Value::String(text), other) if other != text => found.push((at, text)),
        (Value::Object(members), Value::Object(others)) => {
            for (key, member) in members {
                if let Some(other) = others.get(key).filter(|other| *other != member) {
                    differing_texts(member, other, at.clone().key(key), found);
                }
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                differing_texts(item, other, at.clone().item(index), found);
            }
        }
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
        document["hash"] = format!("hash of {text}").into();
    }

    #[test]
    fn a_hash_is_renewed_only_where_it_was_right_before() {
        let changed = json!({"text": "b", "length": 0, "hash": "hash of a"});
        let cases = [
            (json!({"text": "a", "length": 9, "hash": "hash of a"}), "hash of b"),
            (json!({"text": "tampered", "length": 9, "hash": "hash of a"}), "hash of a"),
            (json!({"text": "a", "length": 9, "hash": "replaced by a repair"}), "hash of b"),
        ];
        for (original, hash) in cases {
            let mut changed = changed.clone();
            seal(sum, &original, &mut changed);
            assert_eq!(changed, json!({"text": "b", "length": 1, "hash": hash}), "{original}");
        }
    }
}
