//! Noting in a handoff's own trace what happened to it.

use super::payload::EventType;
use super::{budget, upkeep};
use countersign_contract::serde_json::{Value, json};
use countersign_contract::{Settings, Timestamp, canonical, sha256_hex};

/// Adds an event to the trace of a handoff, if there is room for it within the budget: what is handed over matters more than
/// the note that it was. Whether it was added.
pub fn note(document: &mut Value, what: EventType, workflow: &str, now: jiff::Timestamp, settings: &Settings) -> bool {
    add(document, what, workflow, None, now, settings)
}

/// Notes that a handoff was repaired, and `how`, if there is room for it. No event of a trace means a repair by itself; what a
/// repair ends with is that the handoff passes, and the details of that have room for what led there.
pub fn note_repairs(document: &mut Value, how: Value, now: jiff::Timestamp, settings: &Settings) -> bool {
    add(document, EventType::Validated, REPAIRER, Some(json!({ "repairs": how })), now, settings)
}

/// Where a repair takes place, as traces have it.
const REPAIRER: &str = "countersign-fix";

fn add(
    document: &mut Value,
    what: EventType,
    workflow: &str,
    details: Option<Value>,
    now: jiff::Timestamp,
    settings: &Settings,
) -> bool {
    let mut noted = document.clone();
    let Some(handoff) = noted.get_mut("handoff").and_then(Value::as_object_mut) else { return false };
    let tracing = handoff.entry("tracing").or_insert_with(|| json!({}));
    let Some(tracing) = tracing.as_object_mut() else { return false };
    let Some(events) = tracing.entry("events").or_insert_with(|| json!([])).as_array_mut() else { return false };
    let last = events.last().and_then(|event| event["timestamp"].as_str()).and_then(Timestamp::parse);
    // Clocks differ a little; what stands below is never earlier than what stands above.
    let time = match last {
        Some(last) if last.instant() > now => last.as_str().to_owned(),
        _ => stamp(now),
    };
    let mut event = json!({ "timestamp": time, "event_type": what.as_str(), "workflow": workflow });
    if let (Some(details), Some(event)) = (details, event.as_object_mut()) {
        event.insert("details".to_owned(), details);
    }
    events.push(event);
    upkeep::seal(&mut noted);
    budget::state_count(&mut noted, settings);
    let encoding = budget::encoding(settings);
    if encoding.count_within(&noted.to_string(), settings.tokens_max).is_none() {
        return false;
    }
    *document = noted;
    true
}

/// Whether the trace of a handoff has such an event.
pub fn has_note(document: &Value, what: EventType) -> bool {
    let events = document.pointer("/handoff/tracing/events").and_then(Value::as_array);
    events.into_iter().flatten().any(|event| event["event_type"] == what.as_str())
}

/// A time as handoffs write it. A fraction of a second is kept, so that nothing seems to have happened before it did.
pub fn stamp(now: jiff::Timestamp) -> String {
    let seconds = now.subsec_millisecond() == 0;
    now.strftime(if seconds { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S.%3fZ" }).to_string()
}

/// The SHA-256 of the payload, as `meta.payload_hash` has it.
pub fn payload_hash(document: &Value) -> String {
    let payload = document.pointer("/handoff/payload").unwrap_or(&Value::Null);
    format!("sha256:{}", sha256_hex(canonical(payload).as_bytes()))
}

/// Where two copies of a handoff differ in what must not change on the way: everything but the trace, and the counts and the
/// hash that speak of the rest.
pub fn difference(sent: &Value, found: &Value) -> Option<String> {
    const MAY_CHANGE: &[&str] = &[
        "/handoff/tracing",
        "/handoff/meta/token_count",
        "/handoff/meta/payload_hash",
        "/handoff/meta/payload_size_bytes",
    ];
    differs(sent, found, String::new(), MAY_CHANGE)
}

fn differs(one: &Value, other: &Value, at: String, leave: &[&str]) -> Option<String> {
    if leave.contains(&at.as_str()) {
        return None;
    }
    let (Value::Object(left), Value::Object(right)) = (one, other) else {
        return (canonical(one) != canonical(other)).then_some(at);
    };
    let below = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    let gone = right.keys().filter(|key| !left.contains_key(*key)).map(|key| below(key));
    let mut gone = gone.filter(|at| !leave.contains(&at.as_str()));
    left.iter()
        .find_map(|(key, value)| match right.get(key) {
            Some(other) => differs(value, other, below(key), leave),
            None => Some(below(key)).filter(|at| !leave.contains(&at.as_str())),
        })
        .or_else(|| gone.next())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::handoff::payload::UniversalHandoff;
    use countersign_contract::Shape;

    fn at(time: &str) -> jiff::Timestamp {
        time.parse().unwrap()
    }

    #[test]
    fn what_happened_stands_below_what_happened_before_and_the_count_follows() {
        let mut document = UniversalHandoff::example();
        let settings = Settings::default();
        for (time, wanted) in [
            ("2026-02-07T18:30:00.250Z", "2026-02-07T18:30:00.250Z"),
            ("2026-02-07T18:29:59Z", "2026-02-07T18:30:00.250Z"),
            ("2026-02-07T18:31:00Z", "2026-02-07T18:31:00Z"),
        ] {
            assert!(note(&mut document, EventType::Transmitted, "skill-editor", at(time), &settings));
            let events = document["handoff"]["tracing"]["events"].as_array().unwrap();
            assert_eq!(events.last().unwrap()["timestamp"], wanted, "{time}");
        }
        let sealed = document.clone();
        upkeep::seal(&mut document);
        budget::state_count(&mut document, &settings);
        assert_eq!(document, sealed);
        let exact = budget::encoding(&settings).count(&document.to_string());
        assert_eq!(document["handoff"]["meta"]["token_count"], exact);
    }

    #[test]
    fn a_note_that_does_not_fit_is_left_out() {
        let mut document = UniversalHandoff::example();
        let before = document.clone();
        let settings = Settings { tokens_max: 150, ..Settings::default() };
        assert!(!note(&mut document, EventType::Received, "programming-pm", at("2026-02-07T18:31:00Z"), &settings));
        assert_eq!(document, before);
    }

    #[test]
    fn copies_differ_wherever_something_was_changed_that_must_not_be() {
        let sent = UniversalHandoff::example();
        type Change = fn(&mut Value);
        let cases: [(Change, Option<&str>); 7] = [
            (|it| it["handoff"]["tracing"] = json!({ "events": [] }), None),
            (|it| it["handoff"]["meta"]["token_count"] = json!(12), None),
            (|it| it["handoff"]["context"]["summary"] = json!("another"), Some("/handoff/context/summary")),
            (|it| it["handoff"]["meta"]["user_approved"] = json!(true), Some("/handoff/meta/user_approved")),
            (|it| it["handoff"]["payload"]["working"]["a/b"] = json!(1), Some("/handoff/payload/working/a~1b")),
            (|it| it["handoff"]["payload"] = json!(null), Some("/handoff/payload")),
            (|it| it["extra"] = json!(1), Some("/extra")),
        ];
        for (change, wanted) in cases {
            let mut found = sent.clone();
            change(&mut found);
            assert_eq!(difference(&sent, &found).as_deref(), wanted);
            assert_eq!(difference(&found, &sent).as_deref(), wanted);
        }
    }
}
