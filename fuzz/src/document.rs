//! What holds for every document that was read, in whatever form, and for every refusal.

use countersign_contract::fault::Fault;
use countersign_contract::{Cursor, Document, Form, Kind, canonical, parse};
use serde_json::{Number, Value};

/// How many nodes of one document are asked for their pointer, which takes time that grows with the document.
const POINTERS_MAX: usize = 200;

/// Holds a document to the promises of its parts.
pub(crate) fn holds(document: &Document<'_>) {
    let mut pointers_left = POINTERS_MAX;
    place(document, document.root(), &mut pointers_left);
    match document.form() {
        // Each line is a document; the list of them is one level more than a document may have.
        Form::JsonLines => document.root().items().for_each(printed),
        _ => printed(document.root()),
    }
}

/// What is printed is read again as the same.
fn printed(at: Cursor<'_>) {
    let value = at.to_value();
    let compact = at.compact();
    let again = parse(&compact, Form::Json, usize::MAX);
    let again = again.unwrap_or_else(|fault| panic!("compact form is refused: {}\n{compact}", fault.message));
    assert!(same(&again.root().to_value(), &value), "compact form has another value:\n{compact}");
    assert_eq!(again.root().compact(), compact, "compact form is not stable");
    canonical_is_stable(at, &value);
    json_is_yaml(&compact, &value);
}

/// The canonical form is the same however the value is come by.
fn canonical_is_stable(at: Cursor<'_>, value: &Value) {
    let written = at.canonical();
    assert_eq!(canonical(value), written, "canonical form differs between document and value");
    let read: Value = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}:\n{written}"));
    assert!(same(&read, value), "canonical form has another value:\n{written}");
    assert_eq!(canonical(&read), written, "canonical form is not stable");
}

/// JSON is YAML. Where the YAML reader refuses what JSON allows (letters that YAML does not print, keys beyond its
/// limit) it may, but it must not read something else.
fn json_is_yaml(compact: &str, value: &Value) {
    if let Ok(document) = parse(compact, Form::Yaml, usize::MAX) {
        assert!(same(&document.root().to_value(), value), "JSON read as YAML has another value:\n{compact}");
    }
}

fn place(document: &Document<'_>, at: Cursor<'_>, pointers_left: &mut usize) {
    let span = at.span();
    let text = document.text();
    assert!(text.get(span.clone()).is_some(), "span {span:?} of {} bytes cuts a letter or lies outside", text.len());
    if *pointers_left > 0 {
        *pointers_left -= 1;
        let pointer = at.pointer();
        let found = document.find(&pointer).unwrap_or_else(|| panic!("pointer {pointer} finds nothing"));
        assert_eq!(found.span(), span, "pointer {pointer} finds another place");
        assert!(text.get(document.span(&pointer)).is_some(), "what is shown for {pointer} cuts a letter");
    }
    let inside = |child: Cursor<'_>| {
        let inner = child.span();
        assert!(span.start <= inner.start && inner.end <= span.end, "{inner:?} is not inside {span:?}");
    };
    match at.kind() {
        Kind::List => at.items().for_each(|item| {
            inside(item);
            place(document, item, pointers_left);
        }),
        Kind::Object => at.entries().for_each(|(key, value)| {
            assert!(key.text().is_some(), "a key is not a text");
            inside(key);
            inside(value);
            place(document, value, pointers_left);
        }),
        _ => {}
    }
}

/// Holds a refusal to its promises: it points into the text and speaks as every message does.
pub(crate) fn refuses(text: &str, fault: &Fault) {
    assert!(text.get(fault.span.clone()).is_some(), "fault at {:?} of {} bytes cuts a letter", fault.span, text.len());
    assert!(!fault.message.is_empty() && !fault.help.is_empty(), "a fault must say what is wrong and what to do");
    let visible = |text: &str| text.chars().all(|letter| !letter.is_control());
    assert!(visible(&fault.message), "a message holds control characters: {:?}", fault.message);
}

/// Whether two values are equal, numbers by what they mean: `1` and `1.0` are, `0` and `-0` are.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    let float = |number: &Number| number.as_f64();
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => float(one) == float(other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}
