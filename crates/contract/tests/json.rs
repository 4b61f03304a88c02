//! The JSON reader against `serde_json`, which was written by other people.

#![allow(clippy::unwrap_used, reason = "tests")]

use countersign_contract::{Form, SIZE_MAX, parse};
use proptest::prelude::*;
use serde_json::Value;

fn read(text: &str) -> Result<Value, String> {
    let document = parse(text, Form::Json, SIZE_MAX).map_err(|fault| fault.message)?;
    Ok(document.root().to_value())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
        any::<f64>()
            .prop_filter("readable", |it| it.is_finite() && !(9e15..1e21).contains(&it.abs()))
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z \"\\\\\n\u{1}\u{7f}é漢😀]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..40)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// `-0` is a whole number to us, as JSON Schema has it; `serde_json` keeps its sign and makes it a fraction. `-0.0` is the
/// same number, so nothing is lost where it meets one.
fn whole_zeros(value: Value) -> Value {
    match value {
        Value::Number(number) if number.as_f64() == Some(0.0) => Value::from(0),
        Value::Array(items) => items.into_iter().map(whole_zeros).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, whole_zeros(value))).collect(),
        other => other,
    }
}

proptest! {
    #[test]
    fn what_serde_json_writes_is_read_back_the_same(value in any_value()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            prop_assert_eq!(read(&text).unwrap(), value.clone());
        }
    }

    /// Names that begin alike, end early, or have letters whose order in UTF-16 is not that of their bytes.
    #[test]
    fn members_stand_in_the_order_of_the_rfc_however_their_names_begin(
        names in prop::collection::vec("(handoff_|handoff|)[\u{0}ab\u{7f}é漢\u{E000}\u{FFFF}😀]{0,9}", 0..30),
        deep in any::<bool>(),
    ) {
        let object: Value = names.iter().enumerate().map(|(at, name)| (name.clone(), Value::from(at))).collect();
        let value = if deep { serde_json::json!([{ "b": object, "a": { "": object } }]) } else { object };
        let text = value.to_string();
        let document = parse(&text, Form::Json, SIZE_MAX).unwrap();
        prop_assert_eq!(document.root().canonical(), serde_json_canonicalizer::to_string(&value).unwrap());
    }

    #[test]
    fn compact_text_reads_back_the_same(value in any_value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let compact = parse(&text, Form::Json, SIZE_MAX).unwrap().root().compact();
        prop_assert_eq!(read(&compact).unwrap(), value);
    }

    #[test]
    fn canonical_text_is_what_the_other_implementation_writes(value in any_value()) {
        let text = serde_json::to_string(&value).unwrap();
        let ours = parse(&text, Form::Json, SIZE_MAX).unwrap().root().canonical();
        prop_assert_eq!(&ours, &serde_json_canonicalizer::to_string(&value).unwrap());
        prop_assert_eq!(&ours, &countersign_contract::canonical(&value));
    }

    #[test]
    fn canonical_numbers_are_those_of_the_other_implementation(written in r"-?(0|[1-9][0-9]{0,16})(\.[0-9]{1,9})?(e-?[0-9])?") {
        if let Ok(document) = parse(&written, Form::Json, SIZE_MAX) {
            let value: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(document.root().canonical(), serde_json_canonicalizer::to_string(&value).unwrap());
        }
    }

    /// Beyond `serde_json` only what is documented is refused, and nothing that it refuses is taken.
    #[test]
    fn damaged_text_is_refused_when_serde_json_refuses_it(
        value in any_value(),
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"{}[]\",:\\ 0123456789-+.eEtrufalsn\n\x01".to_vec()),
        kind in 0..3,
    ) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => bytes.truncate(at),
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let theirs = serde_json::from_str::<Value>(text);
            match (read(text), theirs) {
                (Ok(ours), Ok(theirs)) => prop_assert_eq!(whole_zeros(ours), whole_zeros(theirs)),
                (Ok(ours), Err(error)) => prop_assert!(false, "took {ours} although {error}"),
                (Err(why), Ok(_)) => prop_assert!(why.contains("twice") || why.contains("beyond"), "{}", why),
                (Err(_), Err(_)) => {}
            }
        }
    }

    #[test]
    fn every_pointer_leads_back_to_its_value(value in any_value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let document = parse(&text, Form::Json, SIZE_MAX).unwrap();
        let mut open = vec![document.root()];
        while let Some(at) = open.pop() {
            let pointer = at.pointer();
            prop_assert_eq!(document.find(&pointer).unwrap().span(), at.span());
            prop_assert_eq!(value.pointer(pointer.as_str()), Some(&at.to_value()));
            open.extend(at.items());
            open.extend(at.entries().map(|(_, value)| value));
        }
    }
}

#[test]
fn a_zero_has_no_sign() {
    for (text, value) in [("-0", Value::from(0)), ("[-0]", serde_json::json!([0]))] {
        assert_eq!(read(text).unwrap(), value, "{text}");
    }
    for text in ["-0", "-0.0", "0.0", "-0e7"] {
        let document = parse(text, Form::Json, SIZE_MAX).unwrap();
        assert_eq!(document.root().canonical(), "0", "{text}");
    }
}

#[test]
fn faults_say_what_is_wrong_and_where() {
    let cases = [
        ("", "the text ends where a value is expected", 0..0),
        ("{\"a\": 1,}", "expected a key in double quotes, found `}`", 8..9),
        ("{'a': 1}", "expected a key in double quotes, found `'`", 1..2),
        ("[1 2]", "expected `,` or `]`, found `2`", 3..4),
        ("{\"a\": 1} x", "there is more text after the end of the document", 9..10),
        ("\"\u{1}\"", "a control character stands bare in a string", 1..2),
        ("\"\\x\"", "this is not an escape that JSON knows", 1..3),
        ("\"\\ud800\"", "half of a surrogate pair stands alone", 1..7),
        ("\"\\ud800\\u0041\"", "half of a surrogate pair stands alone", 1..13),
        ("\"abc", "this string is never closed", 0..1),
        ("01", "`01` is not a number of JSON's grammar", 0..2),
        ("1e999", "number `1e999` is too large", 0..5),
        (
            "9007199254740992",
            "integer `9007199254740992` is beyond ±9007199254740991, where numbers are no longer exact",
            0..16,
        ),
        ("{\"a\": 1, \"\\u0061\": 2}", "key `a` appears twice in one object", 9..17),
        ("nul", "expected a value, found `n`", 0..1),
    ];
    for (text, message, span) in cases {
        let fault = parse(text, Form::Json, SIZE_MAX).unwrap_err();
        assert_eq!((fault.message.as_str(), fault.span), (message, span), "{text}");
        assert!(!fault.help.is_empty());
    }
}

#[test]
fn a_mark_at_the_head_of_the_file_is_no_fault() {
    assert_eq!(read("\u{feff}{\"a\": 1}").unwrap(), serde_json::json!({"a": 1}));
}
