//! Facts as they are written, and as they will be read.

use countersign_contract::{INTEGER_MAX, canonical};
use serde_json::Value;

/// The canonical text of some facts, and the value that is read from it, if that is known without reading it.
pub(crate) fn facts(mut facts: Value) -> (String, Option<Value>) {
    if !is_read_as_it_is(&facts) {
        return (canonical(&facts), None);
    }
    facts.sort_all_objects();
    (canonical(&facts), Some(facts))
}

/// Whether a value is the same when it was written and read, but for the order of names. A number may be written in another way
/// than it was meant, as 1 for 1.0; and names beyond ASCII have another order in canonical JSON than in memory.
fn is_read_as_it_is(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => true,
        Value::Number(number) => {
            number.as_u64().is_some_and(|it| it <= INTEGER_MAX.unsigned_abs())
                || number.as_i64().is_some_and(|it| (-INTEGER_MAX..0).contains(&it))
        }
        Value::Array(items) => items.iter().all(is_read_as_it_is),
        Value::Object(fields) => fields.iter().all(|(name, value)| name.is_ascii() && is_read_as_it_is(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_known_without_reading_is_what_is_read_to_the_order_of_its_names() {
        let cases = [
            json!({ "b": [1, -5, null, { "z": "\u{e9}\n", "a": true }], "a": INTEGER_MAX }),
            json!({ "b": 1.0, "a": 1 }),
            json!({ "b": -0.0 }),
            json!({ "b": 0.5 }),
            json!({ "\u{ff5e}": 1, "\u{1f600}": 2 }),
            json!({ "b": u64::MAX }),
        ];
        let mut known = Vec::new();
        for case in cases {
            let (text, read) = facts(case.clone());
            assert_eq!(text, canonical(&case));
            if let Some(read) = &read {
                assert_eq!(read.to_string(), serde_json::from_str::<Value>(&text).unwrap_or_default().to_string());
            }
            known.push(read.is_some());
        }
        assert_eq!(known, [true, false, false, false, false, false]);
    }
}
