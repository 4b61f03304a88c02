//! Contracts that a user declares as a JSON Schema.

mod example;

use crate::document::Cursor;
use crate::report::Report;
use crate::rules;
use countersign_diagnostic::Pointer;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;
use std::fmt;

/// A user's own JSON Schema (2020-12) under a name. It refers to nothing outside itself.
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// The root keys that tell it from the others. Without any it is used only when named.
    pub marks: Vec<String>,
    schema: Value,
    validator: jsonschema::Validator,
}

/// The draft of JSON Schema that is read.
const CURRENT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Whether a schema says that it is of that draft.
fn is_current(draft: &Value) -> bool {
    draft.as_str().is_some_and(|draft| draft.trim_end_matches('#').replace("http://", "https://") == CURRENT)
}

impl fmt::Debug for Foreign {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Foreign").field("name", &self.name).field("marks", &self.marks).finish_non_exhaustive()
    }
}

impl Foreign {
    /// Prepares a schema, or says why it cannot be used.
    pub fn new(name: &str, marks: &[String], schema: &Value) -> Result<Self, String> {
        if let Some(reference) = remote_reference(schema) {
            return Err(format!("the schema refers to `{}`, which lies outside it", crate::show(&reference)));
        }
        if let Some(draft) = schema.get("$schema").filter(|it| !is_current(it)) {
            return Err(format!(
                "the schema is of `{}`; schemas of {CURRENT} are read",
                crate::show(&draft.to_string())
            ));
        }
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map_err(|error| format!("the schema is not a JSON Schema: {error}"))?;
        Ok(Self { name: name.to_owned(), marks: marks.to_vec(), schema: schema.clone(), validator })
    }

    /// The schema, as its author wrote it.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// What its author says that it is, in a line.
    pub fn summary(&self) -> Option<&str> {
        let said = self.schema.get("title").or_else(|| self.schema.get("description"));
        said.and_then(Value::as_str).and_then(|said| said.lines().next())
    }

    /// A document that the schema accepts: one of its `examples`, or its `default`, or one put together from what it
    /// asks for. None where none of these passes.
    pub fn example(&self) -> Option<Value> {
        example::candidates(&self.schema).find(|it| self.validator.is_valid(it))
    }

    pub(crate) fn check(&self, root: Cursor<'_>, base: &Pointer, report: &mut Report) {
        let value = root.to_value();
        let holds_secret = !crate::redact_value(&mut value.clone()).is_empty();
        for error in self.validator.iter_errors(&value).take(crate::FINDINGS_MAX + 1) {
            let pointer = Pointer::at(error.instance_path().as_str()).below(base);
            let (rule, pointer) = match error.kind() {
                // What is missing is missing in every contract, and stands where it would.
                ValidationErrorKind::Required { property: Value::String(key) } => {
                    (&rules::FIELD_MISSING, pointer.key(key))
                }
                _ => (&rules::SCHEMA_VIOLATED, pointer),
            };
            // The validator quotes the value; where a secret is near, it must not.
            let said = if holds_secret { error.masked().to_string() } else { error.to_string() };
            let message = crate::show(&begun_small(said));
            let help = format!("the schema of `{}` asks for this at {}", self.name, error.schema_path());
            report.find_at(rule, pointer, message, help);
        }
    }
}

/// Messages are sentences that begin with a small letter. A value at the beginning is left as it is.
fn begun_small(said: String) -> String {
    let mut letters = said.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_ascii_uppercase() && second.is_ascii_lowercase() => {
            format!("{}{}", first.to_ascii_lowercase(), &said[1..])
        }
        _ => said,
    }
}

/// The first reference that leads out of the schema. A schema's own `$id` is not followed either.
fn remote_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(members) => members.iter().find_map(|(key, value)| match (key.as_str(), value) {
            ("$ref" | "$dynamicRef", Value::String(target)) if !target.starts_with('#') => Some(target.clone()),
            _ => remote_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(remote_reference),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_example_is_the_one_given_or_put_together_or_none() {
        let cases = [
            (json!({"examples": [{"a": 1}]}), Some(json!({"a": 1}))),
            // One that the schema itself refuses is no example.
            (json!({"type": "object", "examples": [3], "default": {"b": 2}}), Some(json!({"b": 2}))),
            (
                json!({
                    "type": "object",
                    "required": ["id", "total", "lines", "paid", "day", "who"],
                    "properties": {
                        "id": {"type": "string", "minLength": 6},
                        "total": {"type": "number", "exclusiveMinimum": 0},
                        "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/line"}},
                        "paid": {"type": "boolean"},
                        "day": {"type": "string", "format": "date"},
                        "who": {"enum": ["ana", "bo"]},
                        "note": {"type": "string"}
                    },
                    "$defs": {"line": {"type": "object", "required": ["count"], "properties": {
                        "count": {"type": "integer", "minimum": 2, "multipleOf": 5}}}}
                }),
                Some(json!({
                    "id": "textxx", "total": 1, "lines": [{"count": 5}], "paid": false, "day": "2026-01-01",
                    "who": "ana"
                })),
            ),
            (
                json!({"allOf": [{"required": ["a"]}, {"properties": {"a": {"const": 1}}, "required": ["a"]}]}),
                Some(json!({"a": 1})),
            ),
            (json!({"required": ["a"], "properties": {"a": {"oneOf": [{"type": "null"}]}}}), Some(json!({"a": null}))),
            // What cannot be told simply is not guessed.
            (json!({"required": ["a"], "properties": {"a": {"type": "string", "pattern": "^[A-Z]{3}$"}}}), None),
            (json!({"type": "string", "minLength": 1_000_000}), None),
            (json!({"not": {}}), None),
        ];
        for (schema, expected) in cases {
            let contract = Foreign::new("t", &[], &schema).unwrap();
            assert_eq!(contract.example(), expected, "{schema}");
        }
    }

    #[test]
    fn a_schema_that_asks_for_too_much_has_no_example() {
        // Each of twenty parts asks for the next twice, and the last for the first.
        let mut parts = serde_json::Map::new();
        for number in 0..20 {
            let next = json!({"$ref": format!("#/$defs/{}", (number + 1) % 20)});
            let part = json!({"type": "object", "required": ["a", "b"], "properties": {"a": next, "b": next}});
            parts.insert(number.to_string(), part);
        }
        let schema = json!({"$ref": "#/$defs/0", "$defs": parts});
        assert_eq!(Foreign::new("t", &[], &schema).unwrap().example(), None);
    }
}
