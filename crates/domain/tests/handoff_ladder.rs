//! Holds the ladder of the universal handoff to its promises, on handoffs made at random.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use countersign_contract::diagnostic::{Pointer, Source};
use countersign_contract::fix::{Fixed, fix};
use countersign_contract::{Checker, Outside, Request, Settings};
use countersign_domain::handoff::budget;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const PAYLOAD: &str = "/handoff/payload";
const REFERENCES: &str = "/handoff/payload/references";

/// What a target can do without, in the order in which it goes.
const ORDER: &[&str] = &[
    "/handoff/target/invocation",
    "/handoff/target/expected_phase",
    "/handoff/context/original_prompt",
    "/handoff/context/success_criteria",
    "/handoff/tracing/tags",
    "/handoff/payload/session",
];

/// What decides whether a handoff may be received, or whose it is. It stays as it is, however long the rest.
const DECIDES: &[&str] = &[
    "/handoff/version",
    "/handoff/schema_type",
    "/handoff/timestamp",
    "/handoff/expires_at",
    "/handoff/trace_id",
    "/handoff/source",
    "/handoff/target/skill",
    "/handoff/target/category",
    "/handoff/context/problem_type",
    "/handoff/meta/confidence",
    "/handoff/meta/handoff_chain",
    "/handoff/meta/handoff_reason",
    "/handoff/meta/user_approved",
    "/handoff/tracing/parent_span_id",
    "/handoff/tracing/events",
];

fn example() -> Value {
    (countersign_domain::contract("universal_handoff").unwrap().example)()
}

fn fixed(text: &str, settings: &Settings, outside: &Outside, summarize: bool) -> Fixed {
    let checker = Checker { contracts: countersign_domain::contracts(), foreign: &[], settings, raised: &[] };
    let request = Request::alone(Source { name: "handoff.json", text }, outside);
    let mut shorter = |text: &str, chars: usize| summarize.then(|| text.chars().take(chars / 2).collect());
    fix(&checker, &request, None, &mut shorter)
}

fn long_text() -> impl Strategy<Value = String> {
    let words = prop::collection::vec("[a-z]{1,9}[.,]?|é漢字|\"quoted\"|😀", 1..220);
    words.prop_map(|words| words.join(" "))
}

fn maybe<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    prop::option::of(value)
}

/// A handoff that may be long anywhere.
fn any_handoff() -> impl Strategy<Value = Value> {
    let working = prop::collection::btree_map("[a-z~/]{1,6}", long_text(), 0..5);
    let nested = prop::collection::vec(long_text(), 0..3);
    let session = maybe((long_text(), prop::collection::vec("[a-z]{1,8}", 0..4)));
    let files = maybe(prop::collection::btree_set("[a-z]{1,12}", 0..6));
    let texts = (maybe(long_text()), maybe(long_text()), maybe(long_text()), maybe(long_text()));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let numbers = 0u64..900;
    (working, nested, numbers, session, files, texts, flags).prop_map(
        |(working, nested, numbers, session, files, texts, flags)| {
            let mut document = example();
            let handoff = &mut document["handoff"];
            handoff["payload"]["working"] = json!(working);
            handoff["payload"]["working"]["nested"] = json!({ "list": nested });
            handoff["payload"]["working"]["numbers"] = json!((0..numbers).collect::<Vec<u64>>());
            if let Some((state, artifacts)) = session {
                let artifacts: Vec<_> =
                    artifacts.iter().map(|name| json!({ "name": name, "path": name, "type": "code" })).collect();
                handoff["payload"]["session"] = json!({ "artifacts": artifacts, "state": { "notes": state } });
            }
            if let Some(files) = files {
                let files: Vec<_> = files.iter().map(|path| json!({ "path": path })).collect();
                handoff["payload"]["references"] =
                    json!({ "files": files, "urls": [{ "url": "https://example.org/" }] });
            }
            let (prompt, criterion, phase, tag) = texts;
            if let Some(prompt) = prompt {
                handoff["context"]["original_prompt"] = prompt.into();
            }
            if let Some(criterion) = criterion {
                handoff["context"]["success_criteria"] = json!([criterion]);
            }
            if let Some(phase) = phase {
                handoff["target"]["expected_phase"] = phase.into();
            }
            if let Some(tag) = tag {
                handoff["tracing"] = json!({ "parent_span_id": null, "tags": { "note": tag } });
            }
            let (expires, hash, size, summary) = flags;
            if expires {
                handoff["expires_at"] = "2026-02-09T00:00:00Z".into();
            }
            if hash {
                handoff["meta"]["payload_hash"] = format!("sha256:{}", "0".repeat(64)).into();
            }
            if size {
                handoff["meta"]["payload_size_bytes"] = 1.into();
            }
            if summary {
                handoff["context"]["summary"] = "é1!? ".repeat(90).into();
            }
            (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
            document
        },
    )
}

/// The handoff as it was, from what is left of it and what was kept.
fn restored(mut document: Value, kept: &Map<String, Value>, kept_at: Option<&str>) -> Value {
    if let Some(files) = document.pointer_mut("/handoff/payload/references/files").and_then(Value::as_array_mut) {
        files.retain(|file| file["path"].as_str() != kept_at);
    }
    for (pointer, value) in kept {
        let pointer = Pointer::at(pointer.as_str());
        let owner = document.pointer_mut(pointer.parent().unwrap().as_str()).unwrap();
        match owner {
            Value::Array(items) => items[pointer.last().unwrap().parse::<usize>().unwrap()] = value.clone(),
            owner => owner[pointer.last().unwrap()] = value.clone(),
        }
    }
    document
}

/// Without what a handoff says about itself, and without lists of references that are empty.
fn bare(mut document: Value) -> Value {
    let payload = document.pointer_mut(PAYLOAD).unwrap().as_object_mut().unwrap();
    if let Some(references) = payload.get_mut("references").and_then(Value::as_object_mut) {
        references.retain(|_, list| list != &json!([]));
        if references.is_empty() {
            payload.shift_remove("references");
        }
    }
    let meta = document.pointer_mut("/handoff/meta").unwrap().as_object_mut().unwrap();
    for key in ["token_count", "payload_hash", "payload_size_bytes"] {
        meta.shift_remove(key);
    }
    document
}

fn keys(document: &Value) -> Vec<&String> {
    document.pointer("/handoff/payload/working").unwrap().as_object().unwrap().keys().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_long_handoff_comes_to_fit_with_everything_kept_or_stays_refused(
        original in any_handoff(),
        tokens_max in 230usize..900,
        chars in any::<bool>(),
        summarize in any::<bool>(),
    ) {
        let settings =
            Settings { tokens_max, encoding: if chars { "chars4" } else { "o200k_base" }, ..Settings::default() };
        let outside = Outside::default();
        let once = fixed(&original.to_string(), &settings, &outside, summarize);
        let document: Value = serde_json::from_str(&once.text).unwrap();

        if once.checked.decision.allow {
            let tokens = budget::encoding(&settings).count(&document.to_string());
            prop_assert!(tokens <= tokens_max, "{} tokens of {}", tokens, tokens_max);
        } else {
            prop_assert_eq!(once.checked.decision.code_str(), "TOKEN_LIMIT_EXCEEDED", "{:?}", once.checked.decision);
        }

        let back = restored(document.clone(), &once.kept, once.kept_at.as_deref());
        prop_assert_eq!(bare(back), bare(original.clone()));
        prop_assert_eq!(keys(&document), keys(&original));
        for pointer in DECIDES {
            prop_assert_eq!(document.pointer(pointer), original.pointer(pointer), "{}", pointer);
        }
        for pointer in ["/handoff/meta/payload_hash", "/handoff/meta/payload_size_bytes"] {
            prop_assert_eq!(document.pointer(pointer).is_some(), original.pointer(pointer).is_some(), "{}", pointer);
        }
        if let Some(path) = &once.kept_at {
            let files = document.pointer("/handoff/payload/references/files").unwrap().as_array().unwrap();
            prop_assert_eq!(files.iter().filter(|file| file["path"] == **path).count(), 1);
        }
        prop_assert_eq!(once.kept.is_empty(), once.kept_at.is_none());

        // Nothing goes before what comes earlier in the order has gone.
        let gone = |pointer: &str| once.kept.contains_key(pointer) || original.pointer(pointer).is_none();
        let last = ORDER.iter().rposition(|pointer| once.kept.contains_key(*pointer)).unwrap_or(0);
        prop_assert!(ORDER[..last].iter().all(|pointer| gone(pointer)), "{:?}", once.kept.keys());
        if once.kept.keys().any(|pointer| pointer.contains("/working/") || pointer.as_str() == REFERENCES) {
            prop_assert!(ORDER.iter().all(|pointer| gone(pointer)), "{:?}", once.kept.keys());
        }

        let twice = fixed(&once.text, &settings, &outside, summarize);
        prop_assert_eq!(&twice.text, &once.text, "{:?}", twice.changes);
        prop_assert!(twice.kept.is_empty());
    }
}

#[test]
fn what_is_missing_is_filled_in_from_the_defaults() {
    let mut document = example();
    for (owner, key) in
        [("/handoff", "version"), ("/handoff", "trace_id"), ("/handoff", "timestamp"), ("/handoff", "meta")]
    {
        document.pointer_mut(owner).unwrap().as_object_mut().unwrap().shift_remove(key);
    }
    let outside = Outside {
        now: Some("2026-02-07T18:30:00.25Z".parse().unwrap()),
        fresh_uuid: Some("3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4".to_owned()),
        ..Outside::default()
    };
    let fixed = fixed(&document.to_string(), &Settings::default(), &outside, false);
    assert!(fixed.checked.decision.allow, "{:?}", fixed.checked.decision);
    let document: Value = serde_json::from_str(&fixed.text).unwrap();
    assert_eq!(document["handoff"]["version"], "3.0");
    assert_eq!(document["handoff"]["timestamp"], "2026-02-07T18:30:00Z");
    assert_eq!(document["handoff"]["trace_id"], "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4");
    assert_eq!(document["handoff"]["meta"]["confidence"], "medium");
    assert!(document["handoff"]["meta"]["token_count"].as_i64() > Some(100));
}

#[test]
fn a_payload_hash_that_was_wrong_is_not_made_right() {
    let mut document = example();
    document["handoff"]["meta"]["payload_hash"] = format!("sha256:{}", "0".repeat(64)).into();
    document["handoff"]["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(3000) } });
    // A fault of shape keeps the rules from being asked in the first attempt.
    document["handoff"]["meta"].as_object_mut().unwrap().shift_remove("confidence");
    let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
    let codes: Vec<_> = fixed.checked.decision.details.diagnostics.iter().map(|it| it.rule).collect();
    assert_eq!(codes, ["payload-hash-mismatch"], "{:?}", fixed.checked.decision);
    assert!(fixed.kept.contains_key("/handoff/payload/session"));
}

#[test]
fn a_handoff_that_has_expired_does_not_lose_its_time_of_expiry() {
    let mut document = example();
    document["handoff"]["expires_at"] = "2026-02-08T00:00:00Z".into();
    document["handoff"]["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(3000) } });
    let outside = Outside { now: Some("2026-02-09T00:00:00Z".parse().unwrap()), ..Outside::default() };
    let fixed = fixed(&document.to_string(), &Settings::default(), &outside, false);
    let rules: Vec<_> = fixed.checked.decision.details.diagnostics.iter().map(|it| it.rule).collect();
    assert_eq!(rules, ["handoff-expired"]);
}

#[test]
fn what_the_receiver_decides_on_stays_in_a_handoff_that_loses_all_else() {
    let mut document = example();
    let handoff = &mut document["handoff"];
    let source = handoff["source"]["skill"].clone();
    handoff["expires_at"] = "2026-02-09T00:00:00Z".into();
    handoff["target"]["category"] = "engineering".into();
    handoff["target"]["invocation"] = "word ".repeat(400).into();
    handoff["target"]["expected_phase"] = "word ".repeat(400).into();
    handoff["context"]["original_prompt"] = "word ".repeat(400).into();
    handoff["context"]["success_criteria"] = json!(["word ".repeat(400)]);
    handoff["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(400) } });
    handoff["payload"]["references"] = json!({ "urls": [{ "url": "https://example.org/" }] });
    handoff["payload"]["working"] = json!({ "notes": "word ".repeat(400) });
    let said = json!({
        "handoff_chain": [source], "handoff_reason": "the plan is ready", "user_approved": true,
        "payload_hash": format!("sha256:{}", "0".repeat(64)), "payload_size_bytes": 1,
    });
    for (name, value) in said.as_object().unwrap() {
        handoff["meta"][name] = value.clone();
    }
    let event = json!({ "timestamp": handoff["timestamp"], "event_type": "created", "workflow": "skill-editor" });
    handoff["tracing"] = json!({ "parent_span_id": null, "events": [event], "tags": { "note": "word ".repeat(400) } });
    (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
    for pointer in DECIDES {
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
    let settings = Settings { tokens_max: 1, ..Settings::default() };
    let fixed = fixed(&document.to_string(), &settings, &Outside::default(), false);
    for pointer in ORDER {
        assert!(fixed.kept.contains_key(*pointer), "{pointer}: {:?}", fixed.checked.decision);
    }
    let left: Value = serde_json::from_str(&fixed.text).unwrap();
    for pointer in DECIDES {
        assert_eq!(left.pointer(pointer), document.pointer(pointer), "{pointer}");
    }
    for pointer in ["/handoff/meta/payload_hash", "/handoff/meta/payload_size_bytes"] {
        assert!(left.pointer(pointer).is_some(), "{pointer}");
    }
}

#[test]
fn what_was_kept_before_keeps_its_file() {
    let mut document = example();
    document["handoff"]["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(3000) } });
    let taken = "/srv/sessions/session-17/handoffs/session-context.json";
    let outside = Outside { files: [(taken.to_owned(), true)].into(), ..Outside::default() };
    let fixed = fixed(&document.to_string(), &Settings::default(), &outside, false);
    assert!(fixed.checked.decision.allow, "{:?}", fixed.checked.decision);
    assert_eq!(fixed.kept_at.as_deref(), Some("/srv/sessions/session-17/handoffs/session-context-2.json"));
}

#[test]
fn a_session_without_a_usable_path_loses_nothing() {
    let mut document = example();
    document["handoff"]["source"]["session_path"] = "../elsewhere".into();
    document["handoff"]["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(3000) } });
    let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
    assert!(!fixed.checked.decision.allow && fixed.kept.is_empty());
    assert!(fixed.text.contains("word word"));
}

#[test]
fn a_document_of_a_thousand_long_texts_is_shortened_in_time() {
    let mut document = example();
    let texts: Vec<String> = (0..1000).map(|number| format!("{number} {}", "many words ".repeat(100))).collect();
    document["handoff"]["payload"]["working"]["texts"] = json!(texts);
    let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
    assert!(fixed.checked.decision.allow, "{:?}", fixed.checked.decision);
    assert_eq!(fixed.kept.keys().collect::<Vec<_>>(), ["/handoff/payload/working/texts"]);
    assert_eq!(fixed.kept["/handoff/payload/working/texts"], json!(texts));
}

#[test]
fn lists_and_then_objects_of_the_working_payload_go_when_nothing_else_is_left() {
    let numbers: Vec<u64> = (100_000..102_000).collect();
    let objects: Vec<Value> =
        (0..400).map(|number| json!({ "path": format!("src/{number}.rs"), "n": number })).collect();
    let members: Map<String, Value> = (0..400).map(|number| (format!("key {number}"), json!(number))).collect();
    let short = json!(["a", "b"]);
    let cases = [
        (json!({ "goal": "g", "numbers": numbers }), vec!["numbers"]),
        (json!({ "goal": "g", "plan": { "files": objects, "short": short } }), vec!["plan/files"]),
        (json!({ "goal": "g", "few": short, "members": members }), vec!["members"]),
        // The longest first, and no more than needed.
        (json!({ "numbers": numbers, "few": (0..60).collect::<Vec<u64>>() }), vec!["numbers"]),
        (json!({ "members": members, "numbers": numbers }), vec!["members", "numbers"]),
        // What was shortened inside of it is whole in it.
        (json!({ "plan": [{ "text": "many words ".repeat(100) }, numbers] }), vec!["plan"]),
    ];
    for (working, wanted) in cases {
        let mut document = example();
        document["handoff"]["payload"]["working"] = working.clone();
        (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
        let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
        assert!(fixed.checked.decision.allow, "{wanted:?}: {:?}", fixed.checked.decision);
        let left: Value = serde_json::from_str(&fixed.text).unwrap();
        let mut kept: Vec<&str> =
            fixed.kept.keys().map(|it| it.trim_start_matches("/handoff/payload/working/")).collect();
        kept.sort_unstable();
        assert_eq!(kept, wanted);
        for pointer in fixed.kept.keys() {
            let word = left.pointer(pointer).unwrap().as_str().unwrap();
            assert!(word.starts_with("… ") && word.ends_with("taken out of this handoff"), "{word}");
        }
        let back = restored(left, &fixed.kept, fixed.kept_at.as_deref());
        assert_eq!(back["handoff"]["payload"]["working"], working);
    }
}

#[test]
fn a_count_beyond_its_field_does_not_keep_a_handoff_from_being_shortened() {
    let mut document = example();
    document["handoff"]["meta"]["token_count"] = 3500.into();
    document["handoff"]["payload"]["session"] = json!({ "state": { "notes": "word ".repeat(3000) } });
    let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
    assert!(fixed.checked.decision.allow, "{:?}", fixed.checked.decision);
    assert_eq!(fixed.kept.keys().collect::<Vec<_>>(), ["/handoff/payload/session"]);
}

#[test]
fn a_fault_in_what_would_be_taken_out_does_not_keep_a_handoff_from_being_shortened() {
    let (long, artifact) = ("word ".repeat(3000), json!({ "name": "n", "path": "n.md", "type": "unknown" }));
    let faults = [
        ("/handoff/payload/session", json!({ "artifacts": [artifact], "state": { "notes": long } })),
        ("/handoff/payload/session", json!({ "artifacts": [{ "name": long, "path": "n.md" }] })),
        ("/handoff/context/success_criteria", json!([long, {}])),
        ("/handoff/context/original_prompt", json!([long, {}])),
        (REFERENCES, json!({ "files": [{ "path": "a.md", "description": long, "relevance": "unheard of" }] })),
    ];
    for (pointer, fault) in faults {
        let mut document = example();
        let place = Pointer::at(pointer);
        document.pointer_mut(place.parent().unwrap().as_str()).unwrap()[place.last().unwrap()] = fault.clone();
        let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
        assert!(fixed.checked.decision.allow, "{pointer}: {:?}", fixed.checked.decision);
        assert!(fixed.kept.get(pointer) == Some(&fault), "{pointer}");
    }
}

#[test]
fn a_fault_in_what_could_be_taken_out_is_left_to_a_person_where_there_is_room() {
    let mut document = example();
    document["handoff"]["payload"]["session"] =
        json!({ "artifacts": [{ "name": "n", "path": "n.md", "type": "unknown" }] });
    let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
    let rules: Vec<_> = fixed.checked.decision.details.diagnostics.iter().map(|it| it.rule).collect();
    assert_eq!(rules, ["choice-unknown"]);
    assert!(fixed.kept.is_empty() && fixed.changes.is_empty());
}

/// So many references that they alone are beyond the limit.
fn too_many_references() -> Value {
    let files: Vec<_> = (0..220).map(|number| json!({ "path": format!("docs/chapter-{number}/page.md") })).collect();
    json!({ "files": files })
}

#[test]
fn references_that_are_too_long_go_whatever_else_is_wrong() {
    let faults = [
        ("nothing else", json!({})),
        ("a default is missing", json!({ "handoff": { "meta": { "confidence": null } } })),
        ("a strange field", json!({ "handoff": { "foo": "bar" } })),
        ("the count is wrong", json!({ "handoff": { "meta": { "token_count": 0 } } })),
        ("all of them", json!({ "handoff": { "foo": 1, "meta": { "confidence": null, "token_count": 0 } }, "bar": 2 })),
        (
            "an optional field",
            json!({ "handoff": { "foo": 1, "target": { "invocation": "/x" }, "meta": { "confidence": null } } }),
        ),
    ];
    for (what, patch) in faults {
        let mut document = example();
        document["handoff"]["payload"]["references"] = too_many_references();
        (countersign_domain::contract("universal_handoff").unwrap().seal)(&mut document);
        countersign_contract::prove::merge(&mut document, &patch);
        let fixed = fixed(&document.to_string(), &Settings::default(), &Outside::default(), false);
        assert!(fixed.checked.decision.allow, "{what}: {:?}", fixed.checked.decision);
        assert_eq!(fixed.kept.get(REFERENCES), Some(&too_many_references()), "{what}");
        assert_eq!(fixed.kept.get("/handoff/foo"), document.pointer("/handoff/foo"), "{what}");
    }
}
