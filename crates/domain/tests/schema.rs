//! The generated JSON Schemas against the shapes they were generated with: the `jsonschema` crate and our reader must
//! accept the same documents. Documents are made at random from the schema, and then damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use countersign_contract::{ContractInfo, Form, SIZE_MAX, parse};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Documents for each contract.
const DOCUMENTS: usize = 400;
/// Damaged copies of each document.
const DAMAGES: usize = 4;

#[test]
fn shape_and_schema_accept_the_same_documents() {
    for contract in countersign_domain::contracts() {
        let schema = (contract.schema)();
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        let mut maker = Maker::new(&schema);
        let mut accepted = 0;
        for number in 0..DOCUMENTS {
            let mut document = maker.value(&schema);
            accepted += usize::from(agree(contract, &validator, &document, number));
            for _ in 0..DAMAGES {
                maker.damage(&mut document);
                agree(contract, &validator, &document, number);
            }
        }
        // If nothing made from the schema were accepted, the comparison would be of refusals alone.
        assert!(accepted > DOCUMENTS / 2, "{}: {accepted} of {DOCUMENTS} were accepted", contract.name);
    }
}

fn agree(contract: &ContractInfo, validator: &jsonschema::Validator, document: &Value, number: usize) -> bool {
    let text = document.to_string();
    let parsed = parse(&text, Form::Json, SIZE_MAX).unwrap();
    let ours = contract.accepts(parsed.root());
    let theirs = validator.is_valid(document);
    assert_eq!(
        ours,
        theirs,
        "{} document {number}: the shape says {ours}, the schema {theirs}\n{document:#}\n{:#?}",
        contract.name,
        validator.iter_errors(document).map(|it| format!("{}: {it}", it.instance_path())).collect::<Vec<_>>(),
    );
    ours
}

/// Reading a record and writing it back loses nothing that the contract knows.
#[test]
fn what_is_read_is_written_back() {
    for contract in countersign_domain::contracts() {
        let schema = (contract.schema)();
        let mut maker = Maker::new(&schema);
        for _ in 0..DOCUMENTS {
            let document = maker.value(&schema);
            let text = document.to_string();
            let parsed = parse(&text, Form::Json, SIZE_MAX).unwrap();
            let Some(printed) = contract.print(parsed.root()) else { continue };
            let again = printed.to_string();
            let again = parse(&again, Form::Json, SIZE_MAX).unwrap();
            assert_eq!(contract.print(again.root()), Some(printed.clone()), "{}", contract.name);
            assert_eq!(known_part(&document, &printed), printed, "{}", contract.name);
        }
    }
}

/// The part of `document` that `printed` speaks of.
fn known_part(document: &Value, printed: &Value) -> Value {
    match (document, printed) {
        (Value::Object(members), Value::Object(known)) => {
            let part =
                known.iter().filter_map(|(key, known)| Some((key.clone(), known_part(members.get(key)?, known))));
            Value::Object(part.collect())
        }
        (Value::Array(items), Value::Array(known)) => {
            Value::Array(items.iter().zip(known).map(|(item, known)| known_part(item, known)).collect())
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => printed.clone(),
        (other, _) => other.clone(),
    }
}

struct Maker<'s> {
    root: &'s Value,
    runner: TestRunner,
    state: u64,
}

impl<'s> Maker<'s> {
    fn new(root: &'s Value) -> Self {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        Self { root, runner: TestRunner::new_with_rng(Config::default(), rng), state: 0x9E37_79B9_7F4A_7C15 }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % bound.max(1) as u64).unwrap()
    }

    fn value(&mut self, schema: &Value) -> Value {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(target.trim_start_matches('#')).unwrap();
            return self.value(target);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                let branch = &branches[self.below(branches.len())];
                let mut value = self.value(branch);
                // Members beside the union belong to it too.
                if schema.get("properties").is_some() {
                    let beside = self.object(schema);
                    if let (Value::Object(value), Value::Object(beside)) = (&mut value, beside) {
                        for (key, member) in beside {
                            value.entry(key).or_insert(member);
                        }
                    }
                }
                return value;
            }
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return choices[self.below(choices.len())].clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => self.object(schema),
            Some("array") => self.list(schema),
            Some("string") => self.text(schema),
            Some("integer") => self.integer(schema),
            Some("number") => json!([0.0, 0.5, 1.0, 0.25][self.below(4)]),
            Some("boolean") => Value::Bool(self.below(2) == 0),
            Some("null") => Value::Null,
            _ => json!({ "free": [1, "two"] }),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let mut members = Map::new();
        let required: Vec<&str> =
            schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        for (key, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if required.contains(&key.as_str()) || self.below(2) == 0 {
                members.insert(key.clone(), self.value(member));
            }
        }
        // Of members that depend on a word, the word is chosen and the rest made to fit.
        if let Some(cases) = schema.get("allOf").and_then(Value::as_array) {
            let case = &cases[self.below(cases.len())];
            for (key, word) in case["if"]["properties"].as_object().into_iter().flatten() {
                members.insert(key.clone(), word["const"].clone());
            }
            for (key, member) in case["then"]["properties"].as_object().into_iter().flatten() {
                members.insert(key.clone(), self.value(member));
            }
        }
        Value::Object(members)
    }

    fn list(&mut self, schema: &Value) -> Value {
        let number = |key: &str| schema.get(key).and_then(Value::as_u64).map(|it| usize::try_from(it).unwrap());
        let min = number("minItems").unwrap_or(0);
        let max = number("maxItems").unwrap_or(min + 2).min(min + 2);
        let count = min + self.below(max - min + 1);
        let items = schema.get("items").cloned().unwrap_or(json!({}));
        Value::Array((0..count).map(|_| self.value(&items)).collect())
    }

    fn text(&mut self, schema: &Value) -> Value {
        if schema.get("format").and_then(Value::as_str) == Some("date-time") {
            return json!(
                ["2026-02-07T18:30:00Z", "2025-12-25T10:30:15.250Z", "2024-02-29T00:00:00Z", "9999-12-31T23:59:59Z"]
                    [self.below(4)]
            );
        }
        let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
        if pattern.starts_with('^') && !pattern.contains("[^") {
            let body = pattern.trim_start_matches('^').trim_end_matches('$');
            if let Ok(strategy) = proptest::string::string_regex(body) {
                return strategy.new_tree(&mut self.runner).unwrap().current().into();
            }
        }
        let number = |key: &str| schema.get(key).and_then(Value::as_u64).map(|it| usize::try_from(it).unwrap());
        let (min, max) = (number("minLength").unwrap_or(0), number("maxLength").unwrap_or(60));
        let letters = ["a", "é", "漢", "x y", "/", "-", "T-1", "src/a.py", "../", "./"];
        let mut text = String::new();
        // Most patterns refuse a separator at the head; a few texts with one are enough.
        if !pattern.is_empty() && self.below(8) > 0 {
            text.push_str(letters[self.below(3)]);
        }
        let length = [min, max.min(min + 30), max][self.below(3)].max(usize::from(!pattern.is_empty()));
        while text.chars().count() < length {
            text.push_str(letters[self.below(letters.len())]);
        }
        text.chars().take(length).collect::<String>().into()
    }

    fn integer(&mut self, schema: &Value) -> Value {
        let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
        let min = bound("minimum").unwrap_or(0);
        let max = bound("maximum").unwrap_or(min + 10);
        json!([min, max, min + (max - min) / 2][self.below(3)])
    }

    /// Changes one place: another value, a member away, a member more, an item more, or a text or number moved.
    fn damage(&mut self, document: &mut Value) {
        let mut places = Vec::new();
        collect(document, "", &mut places);
        let place = places[self.below(places.len())].clone();
        let junk = [
            json!(null),
            json!(true),
            json!(0),
            json!(-1),
            json!(3.5),
            json!(1_000_000),
            json!(""),
            json!("  "),
            json!("a\u{202e}b"),
            json!("T-0"),
            json!("2026-02-30T00:00:00Z"),
            json!("x".repeat(6000)),
            json!([]),
            json!(["a"]),
            json!({}),
        ];
        let junk = junk[self.below(junk.len())].clone();
        let kind = self.below(5);
        let Some(target) = document.pointer_mut(&place) else { return };
        match (kind, target) {
            (0, Value::Object(members)) if !members.is_empty() => {
                let key = members.keys().nth(members.len() / 2).unwrap().clone();
                members.shift_remove(&key);
            }
            (1, Value::Object(members)) => {
                members.insert(["unknown", "x_own"][usize::from(members.len() % 2 == 0)].to_owned(), junk);
            }
            (1, Value::Array(items)) => items.push(junk),
            (2, Value::String(text)) => text.push('!'),
            (2, Value::Number(number)) => {
                *number = (number.as_i64().unwrap_or(0) + 1).min(9_007_199_254_740_991).into()
            }
            (3, Value::String(text)) => *text = text.to_uppercase(),
            (_, target) => *target = junk,
        }
    }
}

fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                collect(member, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), places);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &format!("{at}/{index}"), places);
            }
        }
        _ => {}
    }
}
