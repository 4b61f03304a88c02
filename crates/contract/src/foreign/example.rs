//! An example of a user's schema: the one that it gives, or one put together from what it asks for.

use serde_json::{Map, Number, Value, json};

/// How many values an example may have, and how many references may be followed for it. A schema can ask for more than
/// there is room for.
const STEPS_MAX: usize = 2_000;
/// How deep an example may go.
const DEPTH_MAX: usize = 32;
/// How long a text or list may have to be.
const LENGTH_MAX: u64 = 1_000;

/// Values that may be what the schema accepts, the likeliest first. Whoever asks has to try.
pub(super) fn candidates(schema: &Value) -> impl Iterator<Item = Value> + '_ {
    let given = schema.get("examples").and_then(Value::as_array).into_iter().flatten().cloned();
    let made = std::iter::once_with(|| Maker { root: schema, steps: 0 }.make(schema, 0)).flatten();
    given.chain(schema.get("default").cloned()).chain(made)
}

struct Maker<'s> {
    root: &'s Value,
    steps: usize,
}

impl Maker<'_> {
    /// The smallest value that the schema seems to ask for; none where that cannot be told simply, as from a pattern.
    fn make(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        self.steps += 1;
        if depth > DEPTH_MAX || self.steps > STEPS_MAX {
            return None;
        }
        let schema = match schema {
            Value::Bool(true) => return Some(Value::Null),
            Value::Object(members) => members,
            _ => return None,
        };
        if let Some(value) = schema.get("const").or_else(|| schema.get("default")).or_else(|| first(schema, "examples"))
        {
            return Some(value.clone());
        }
        if let Some(value) = first(schema, "enum") {
            return Some(value.clone());
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(target.strip_prefix('#')?)?.clone();
            return self.make(&target, depth + 1);
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            return self.make_all(schema, parts, depth);
        }
        for ways in ["oneOf", "anyOf"] {
            if let Some(Value::Array(ways)) = schema.get(ways) {
                return ways.iter().find_map(|way| self.make(way, depth + 1));
            }
        }
        match kind(schema) {
            "object" => self.make_object(schema, depth),
            "array" => self.make_list(schema, depth),
            "string" => make_text(schema),
            "integer" | "number" => make_number(schema),
            "boolean" => Some(false.into()),
            _ => Some(Value::Null),
        }
    }

    /// What all parts ask for together, where each asks for an object.
    fn make_all(&mut self, schema: &Map<String, Value>, parts: &[Value], depth: usize) -> Option<Value> {
        let mut own = schema.clone();
        own.shift_remove("allOf");
        let mut whole = Map::new();
        for part in parts.iter().chain([&Value::Object(own)]) {
            match self.make(part, depth + 1)? {
                Value::Object(members) => whole.extend(members),
                Value::Null => {}
                _ => return None,
            }
        }
        Some(Value::Object(whole))
    }

    fn make_object(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let mut made = Map::new();
        for key in schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            let member = schema.get("properties").and_then(|it| it.get(key)).unwrap_or(&Value::Bool(true));
            made.insert(key.to_owned(), self.make(member, depth + 1)?);
        }
        Some(Value::Object(made))
    }

    fn make_list(&mut self, schema: &Map<String, Value>, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if least > LENGTH_MAX {
            return None;
        }
        let item = schema.get("items").unwrap_or(&Value::Bool(true));
        let first = schema.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let items = (0..least as usize).map(|index| self.make(first.get(index).unwrap_or(item), depth + 1));
        items.collect::<Option<Vec<Value>>>().map(Value::Array)
    }
}

fn first<'s>(schema: &'s Map<String, Value>, key: &str) -> Option<&'s Value> {
    schema.get(key)?.as_array()?.first()
}

/// What kind of value a schema is for, by its type or else by what it says about it.
fn kind(schema: &Map<String, Value>) -> &str {
    let named = schema.get("type").map(|kind| first(schema, "type").unwrap_or(kind));
    if let Some(kind) = named.and_then(Value::as_str) {
        return kind;
    }
    let says = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    if says(&["properties", "required", "additionalProperties"]) {
        "object"
    } else if says(&["items", "prefixItems", "minItems"]) {
        "array"
    } else if says(&["minLength", "maxLength", "pattern", "format"]) {
        "string"
    } else if says(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        "null"
    }
}

fn make_text(schema: &Map<String, Value>) -> Option<Value> {
    if schema.contains_key("pattern") {
        return None;
    }
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("duration") => "P1D",
        Some("email" | "idn-email") => "somebody@example.com",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("uri" | "uri-reference" | "iri" | "iri-reference") => "https://example.com/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        _ => "text",
    };
    let length = |key: &str| schema.get(key).and_then(Value::as_u64);
    let (least, most) = (length("minLength").unwrap_or(0), length("maxLength").unwrap_or(u64::MAX));
    if least > LENGTH_MAX {
        return None;
    }
    let filled: String =
        text.chars().chain(std::iter::repeat('x')).take((text.len() as u64).max(least) as usize).collect();
    Some(filled.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect::<String>().into())
}

fn make_number(schema: &Map<String, Value>) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let whole = kind(schema) == "integer";
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|it| it + 1.0));
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|it| it - 1.0));
    // Nothing is the plainest number, and else the bound that is nearest to it.
    let mut number = 0.0_f64.max(least.unwrap_or(f64::MIN)).min(most.unwrap_or(f64::MAX));
    if let Some(step) = bound("multipleOf").filter(|step| *step > 0.0) {
        number = (number / step).ceil() * step;
    }
    if whole || number.fract() == 0.0 {
        return (number.abs() < 9e15).then(|| json!(number.ceil() as i64));
    }
    Number::from_f64(number).map(Value::Number)
}
