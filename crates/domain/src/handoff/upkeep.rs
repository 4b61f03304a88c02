//! What a handoff says about itself, brought up to date; and what may stand where a required field is missing.

use super::measure;
use super::payload::TOKEN_COUNT_MAX;
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Outside, canonical, sha256_hex};

/// The value for a required field that is missing. Nothing that only its author can know has one.
pub(super) fn default_for(pointer: &str, outside: &Outside) -> Option<Value> {
    match pointer {
        "/handoff/version" => Some("3.0".into()),
        "/handoff/schema_type" => Some("universal".into()),
        "/handoff/trace_id" => outside.fresh_uuid.as_deref().map(Into::into),
        "/handoff/timestamp" => outside.now.map(|now| now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()),
        "/handoff/meta" => Some(json!({ "token_count": 0, "confidence": "medium" })),
        "/handoff/meta/confidence" => Some("medium".into()),
        "/handoff/meta/token_count" => Some(0.into()),
        _ => None,
    }
}

/// Recomputes hash, size and count where they are present. Hash and size speak of the payload alone; the count speaks
/// of the whole document, itself included, so it comes last and is repeated until it stands.
pub(super) fn seal(document: &mut Value) {
    let Some(handoff) = document.get_mut("handoff").and_then(Value::as_object_mut) else { return };
    let sums = handoff.get("payload").map(|payload| {
        let hash = || format!("sha256:{}", sha256_hex(canonical(payload).as_bytes()));
        (handoff.get("meta").and_then(|meta| meta.get("payload_hash")).map(|_| hash()), payload.to_string().len())
    });
    let Some(meta) = handoff.get_mut("meta").and_then(Value::as_object_mut) else { return };
    if let Some((hash, size)) = sums {
        if let (Some(written), Some(hash)) = (meta.get_mut("payload_hash"), hash) {
            *written = hash.into();
        }
        if let Some(written) = meta.get_mut("payload_size_bytes") {
            *written = size.into();
        }
    }
    if meta.contains_key("token_count") {
        seal_count(document);
    }
}

/// The number of digits changes the length it counts: a second or third look settles it.
fn seal_count(document: &mut Value) {
    const LOOKS_MAX: usize = 4;
    for _ in 0..LOOKS_MAX {
        let count = stated_count(measure::estimate(document.to_string().chars().count()));
        let Some(written) = document.pointer_mut("/handoff/meta/token_count") else { return };
        let before = std::mem::replace(written, count.into());
        if before == count {
            return;
        }
    }
}

/// What `meta.token_count` says of a document of so many tokens: the field ends at its maximum, and what is longer is
/// refused for its length, not for its count.
pub(super) fn stated_count(tokens: usize) -> i64 {
    i64::try_from(tokens).map_or(TOKEN_COUNT_MAX, |tokens| tokens.min(TOKEN_COUNT_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_contract::{Contract, Shape};

    #[test]
    fn sealing_twice_changes_nothing_and_adds_nothing() {
        let mut document = super::super::payload::UniversalHandoff::example();
        document["handoff"]["meta"]["token_count"] = 0.into();
        super::super::payload::UniversalHandoff::seal(&mut document);
        let once = document.clone();
        super::super::payload::UniversalHandoff::seal(&mut document);
        assert_eq!(document, once);
        assert!(document["handoff"]["meta"].get("payload_hash").is_none());
        assert!(document["handoff"]["meta"].get("payload_size_bytes").is_none());
    }

    #[test]
    fn the_count_of_a_long_document_stays_within_its_field() {
        let mut document = super::super::payload::UniversalHandoff::example();
        document["handoff"]["payload"]["working"]["text"] = "word ".repeat(9000).into();
        seal(&mut document);
        assert_eq!(document["handoff"]["meta"]["token_count"], 2000);
    }
}
