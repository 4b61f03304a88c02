//! Contracts that a user declares as a JSON Schema.

use crate::document::Cursor;
use crate::report::Report;
use crate::rules;
use countersign_diagnostic::Pointer;
use serde_json::Value;
use std::fmt;

/// A user's own JSON Schema (2020-12) under a name. It refers to nothing outside itself.
pub struct Foreign {
    /// Its name.
    pub name: String,
    /// The root keys that tell it from the others. Without any it is used only when named.
    pub marks: Vec<String>,
    validator: jsonschema::Validator,
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
        let validator = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map_err(|error| format!("the schema is not a JSON Schema: {error}"))?;
        Ok(Self { name: name.to_owned(), marks: marks.to_vec(), validator })
    }

    pub(crate) fn check(&self, root: Cursor<'_>, base: &Pointer, report: &mut Report) {
        let value = root.to_value();
        let holds_secret = !crate::redact_value(&mut value.clone()).is_empty();
        for error in self.validator.iter_errors(&value).take(crate::FINDINGS_MAX + 1) {
            let pointer = Pointer::at(error.instance_path().as_str()).below(base);
            // The validator quotes the value; where a secret is near, it must not.
            let said = if holds_secret { error.masked().to_string() } else { error.to_string() };
            let message = crate::show(&said);
            let help = format!("the schema of `{}` asks for this at {}", self.name, error.schema_path());
            report.find_at(&rules::SCHEMA_VIOLATED, pointer, message, help);
        }
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
