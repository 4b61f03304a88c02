//! YAML: what it means here, and what is refused because it means different things elsewhere.

#![allow(clippy::unwrap_used, reason = "tests")]

use countersign_contract::diagnostic::{Code, Decision, Source};
use countersign_contract::foreign::Foreign;
use countersign_contract::{Checker, Form, Outside, Request, SIZE_MAX, Settings, check, fix, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(text: &str) -> Result<Value, String> {
    parse(text, Form::Yaml, SIZE_MAX).map(|document| document.root().to_value()).map_err(|fault| fault.message)
}

#[test]
fn scalars_mean_what_yaml_1_2_says() {
    let cases = [
        ("no", json!("no")),
        ("on", json!("on")),
        ("y", json!("y")),
        ("true", json!(true)),
        ("False", json!(false)),
        ("~", json!(null)),
        ("", json!(null)),
        ("12", json!(12)),
        ("+12", json!(12)),
        ("0x1F", json!(31)),
        ("0o17", json!(15)),
        ("1.50", json!(1.5)),
        (".5", json!(0.5)),
        ("5.", json!(5.0)),
        ("1e3", json!(1000.0)),
        ("2026-02-07", json!("2026-02-07")),
        ("1.0.0", json!("1.0.0")),
        ("\"no\"", json!("no")),
        ("'it''s'", json!("it's")),
        ("\"a\\nb\"", json!("a\nb")),
        ("|\n    two\n    lines\n", json!("two\nlines\n")),
        (">\n    two\n    lines\n", json!("two lines\n")),
        ("[a, no, 3]", json!(["a", "no", 3])),
        ("{a: 1}", json!({"a": 1})),
    ];
    for (text, value) in cases {
        assert_eq!(read(&format!("key: {text}\n")), Ok(json!({ "key": value })), "{text}");
    }
}

#[test]
fn what_hides_meaning_is_refused() {
    let cases = [
        ("a: &x 1\nb: *x\n", "anchors are not read"),
        ("a: *x\n", "aliases are not read"),
        ("a: !!str 1\n", "tags are not read"),
        ("a: !custom 1\n", "tags are not read"),
        ("b:\n  <<: {a: 1}\n", "merge keys are not read"),
        ("a: 1\n---\nb: 2\n", "a second document begins here"),
        ("a: 1\na: 2\n", "key `a` appears twice in one object"),
        ("1: a\n", "key `1` is not a text"),
        ("? [a]\n: b\n", "a key is a list or an object"),
        ("a: 010\n", "`010` is octal to some readers of YAML and decimal to others"),
        ("a: 1_000\n", "`1_000` is a number to some readers of YAML and a text to others"),
        ("a: 12:30:45\n", "`12:30:45` is a number to some readers of YAML and a text to others"),
        ("a: 0b101\n", "`0b101` is a number to some readers of YAML and a text to others"),
        ("a: .nan\n", "`.nan` is not a finite number"),
        (
            "a: 9007199254740993\n",
            "integer `9007199254740993` is beyond ±9007199254740991, where numbers are no longer exact",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(read(text), Err(message.to_owned()), "{text}");
    }
    assert!(read("%YAML 1.1\n---\na: 1\n").is_err());
    assert!(read("a: [1\n").unwrap_err().starts_with("this is not YAML"));
}

#[test]
fn places_are_those_of_the_values() {
    let text = "task:\n  title: \"Ä title\"\n  scope:\n    - a\n    - b c\nlast: 3\n";
    let document = parse(text, Form::Yaml, SIZE_MAX).unwrap();
    let shown = |pointer: &str| {
        let at = document.find(&countersign_contract::diagnostic::Pointer::at(pointer)).unwrap();
        &text[at.span()]
    };
    assert_eq!(shown("/task/title"), "\"Ä title\"");
    assert_eq!(shown("/task/scope/1"), "b c");
    assert_eq!(shown("/last"), "3");
    assert_eq!(shown("/task/scope"), "- a\n    - b c");
}

#[test]
fn front_matter_is_read_and_the_body_is_kept() {
    let text = "---\nstatus: done\n---\n# Title\n\nBody with --- inside\n";
    let document = parse(text, Form::Markdown, SIZE_MAX).unwrap();
    assert_eq!(document.root().to_value(), json!({"status": "done"}));
    let written = fix::write(&json!({"status": "blocked"}), text, Form::Markdown);
    assert_eq!(written, text.replace("done", "blocked"));
    assert!(parse("# Title\n", Form::Markdown, SIZE_MAX).unwrap_err().message.contains("no front matter"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
        (-1e9f64..1e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "no", "", "~", "- a", "a: b", "# c", "1.0", " x ", "a\nb\n", "yes", "é", "null", "0x1", "---", "'", "\"",
            "y"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_as_yaml_is_read_back_the_same(value in any_value()) {
        let text = fix::write(&json!({ "value": value }), "", Form::Yaml);
        prop_assert_eq!(read(&text), Ok(json!({ "value": value })), "{}", text);
    }
}

#[test]
fn only_what_changed_is_written_and_comments_stay() {
    let cases = [
        (
            Form::Yaml,
            "# head\na: 1 # one\nb: {c: \"x\", d: [1, 2]}\n",
            json!({"a": 2, "b": {"c": "y", "d": [1, 3]}}),
            "# head\na: 2 # one\nb: {c: \"y\", d: [1, 3]}\n",
        ),
        (
            Form::Json,
            "{\"a\":1,\n   \"b\": [true , null]}",
            json!({"a": "one", "b": [true, 5]}),
            "{\"a\":\"one\",\n   \"b\": [true , 5]}",
        ),
        (Form::JsonLines, "{\"a\":  1}\n{\"b\":  2}\n", json!([{"a": 1}, {"b": 3}]), "{\"a\":  1}\n{\"b\":  3}\n"),
        (Form::JsonLines, "{\"a\":  1}\n{\"b\":  2}\n", json!([{"a": 1}, {"c": 3}]), "{\"a\":  1}\n{\"c\":3}\n"),
        (Form::Markdown, "---\na: x # why\n---\nbody\n", json!({"a": "y: z"}), "---\na: \"y: z\" # why\n---\nbody\n"),
    ];
    for (form, like, value, expected) in cases {
        assert_eq!(fix::write(&value, like, form), expected, "{like}");
    }
}

#[test]
fn members_come_and_go_where_they_stand_and_comments_stay() {
    let cases = [
        (
            "# head\na: 1 # one\n# two\nb:\n  c: x # three\n# four\nd: 2",
            json!({"a": 1, "b": {"c": "x", "e": [1]}, "d": 2, "f": {}}),
            "# head\na: 1 # one\n# two\nb:\n  c: x # three\n  e:\n    - 1\n# four\nd: 2\nf: {}",
        ),
        ("# head\na: 1 # one\nb: 2 # two\n", json!({"b": 2}), "# head\n# one\nb: 2 # two\n"),
        ("a: | # one\n  x\n  y\nb: 2 # two\n", json!({"a": "x\nz\n", "b": 2}), "# one\na: \"x\\nz\\n\"\nb: 2 # two\n"),
        (
            "l: # one\n  - a: 1 # two\n  # three\n  - a: 2\nb: 3 # four\n",
            json!({"l": [{"a": 1, "m": 0}, {"a": 2}], "b": 3}),
            "l: # one\n  - a: 1 # two\n    m: 0\n  # three\n  - a: 2\nb: 3 # four\n",
        ),
        (
            "a: 1\nl: # one\n  - 1 # two\n# three\nb: 3\n",
            json!({"a": 1, "l": [], "b": 3}),
            "a: 1\n# one\nl: [] # two\n# three\nb: 3\n",
        ),
        ("a: # one\nb: 2\r\n", json!({"b": 2, "c": 1}), "# one\r\nb: 2\r\nc: 1\r\n"),
        ("# head\n{a: 1, # one\n b: 2}\n", json!({"a": 1}), "# head\n# one\na: 1\n"),
    ];
    for (like, value, expected) in cases {
        assert_eq!(fix::write(&value, like, Form::Yaml), expected, "{like}");
        let (like, expected) = (format!("---\n{like}"), format!("---\n{expected}"));
        if like.ends_with('\n') {
            let (like, expected) = (format!("{like}---\n# body\n"), format!("{expected}---\n# body\n"));
            assert_eq!(fix::write(&value, &like, Form::Markdown), expected, "{like}");
        }
    }
}

proptest! {
    /// However a document was written before, what is written in its place reads as it should.
    #[test]
    fn what_replaces_another_is_read_back_the_same(old in any_value(), new in any_value(), flow in any::<bool>()) {
        let like = if flow { json!({ "value": old }).to_string() } else { fix::write(&json!({ "value": old }), "", Form::Yaml) };
        for form in [Form::Yaml, Form::Json] {
            let like = if form == Form::Json { json!({ "value": old }).to_string() } else { like.clone() };
            let text = fix::write(&json!({ "value": new }), &like, form);
            let read = parse(&text, form, SIZE_MAX).map(|document| document.root().to_value());
            prop_assert_eq!(read.ok(), Some(json!({ "value": new })), "{}\n{}", like, text);
        }
    }

    /// However much of a document changes, no comment is lost and none comes twice.
    #[test]
    fn every_comment_survives(old in any_value(), new in any_value()) {
        let plain = fix::write(&json!({ "kept": 1, "value": old }), "", Form::Yaml);
        let like: String = plain.lines().enumerate().map(|(at, line)| format!("{line} # <{at}>\n")).collect();
        for new in [json!({ "kept": 1, "value": new }), json!({ "kept": 1, "added": new }), json!({ "other": new })] {
            let text = fix::write(&new, &like, Form::Yaml);
            prop_assert_eq!(read(&text), Ok(new), "{}\n{}", like, text);
            for at in 0..plain.lines().count() {
                prop_assert_eq!(text.matches(&format!("# <{at}>\n")).count(), 1, "{}\n{}", like, text);
            }
        }
    }
}

/// What is said of a document of a user's own contract, and what becomes of it.
fn judged(text: &str) -> (Decision, fix::Fixed) {
    let foreign = [Foreign::new("note", &["note".to_owned()], &json!({"type": "object"})).unwrap()];
    let settings = Settings::default();
    let checker = Checker { contracts: &[], foreign: &foreign, settings: &settings, raised: &[] };
    let outside = Outside::default();
    let request = Request::alone(Source { name: "n.yaml", text }, &outside);
    (check(&checker, &request).decision, fix::fix(&checker, &request, None, &mut |_, _| None))
}

#[test]
fn a_secret_in_a_comment_is_refused_and_redacted() {
    let key = concat!("AKI", "AIOSFODNN7EXAMPLE");
    let text = format!("# lock_scope: [a], left out\nnote: 1 # the key is {key}, é\n");
    let (decision, fixed) = judged(&text);
    let findings = &decision.details.diagnostics;
    assert_eq!((decision.code, findings.len()), (Some(Code::UntrustedContextBlock), 1), "{findings:#?}");
    assert!(fixed.checked.decision.allow, "{}", fixed.text);
    assert_eq!(fixed.text, text.replace(key, "[REDACTED:aws-key-id]"));
}

#[test]
fn a_key_over_many_comments_is_refused_and_redacted_with_all_of_its_lines() {
    let line = "MIIEpAIBAAKCAQEA7bq0Vb1c4rQyJ8nS9xkq2ZcPzT5f";
    let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} RSA PRIVATE KEY-----"));
    let whole = format!("# {begin}\n# {line}\n# {line}\n# {end}\n");
    let cut = format!("# {begin}\n# {line}\n#{line}\n");
    for key in [whole, cut] {
        for text in [format!("{key}note: 1\n"), format!("note: # odd\n  {}  1 # fine\n", key.replace('\n', "\n  "))] {
            let (decision, fixed) = judged(&text);
            let findings = decision.details.diagnostics.len();
            assert_eq!((decision.code, findings), (Some(Code::UntrustedContextBlock), 1), "{text}");
            assert!(fixed.checked.decision.allow, "{}", fixed.text);
            assert!(fixed.text.contains("# [REDACTED:private-key]\n"), "{}", fixed.text);
            assert!(!fixed.text.contains("MIIE") && !fixed.text.contains("END"), "{}", fixed.text);
        }
    }
}
