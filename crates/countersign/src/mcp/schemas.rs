//! The schemas of tools, made from those of the engine's tables.

use super::documents::{CheckAsked, CheckShown, ExplainAsked, ExplainShown, FixAsked, FixShown};
use super::handoffs::{MakeAsked, MakeShown};
use super::tools::Does;
use countersign_contract::{Schemas, Shape};
use countersign_engine::{command_row, view_row};
use rmcp::model::JsonObject;
use serde_json::{Value, json};

type Schema = fn(&mut Schemas) -> Value;

/// The schemas of what a tool takes and what it answers.
pub fn of(does: Does) -> (JsonObject, JsonObject) {
    let nothing: (Schema, Schema) = (|_| json!({ "type": "object" }), |_| json!({ "type": "object" }));
    let (input, answer): (Schema, Schema) = match does {
        Does::Ask(id) => command_row(id).map_or(nothing, |row| (row.request, row.answer)),
        Does::Look(id) => view_row(id).map_or(nothing, |row| (row.question, row.shown)),
        Does::Check => (CheckAsked::schema, CheckShown::schema),
        Does::Fix => (FixAsked::schema, FixShown::schema),
        Does::MakeHandoff => (MakeAsked::schema, MakeShown::schema),
        Does::Explain => (ExplainAsked::schema, ExplainShown::schema),
    };
    (input_of(input), output_of(answer))
}

/// Clients want an object at the root, not a reference to one.
fn input_of(input: Schema) -> JsonObject {
    let mut schemas = Schemas::default();
    let root = input(&mut schemas);
    let mut defs = schemas.into_defs();
    let name = root["$ref"].as_str().and_then(|at| at.strip_prefix("#/$defs/"));
    let root = name.and_then(|name| defs.shift_remove(name)).unwrap_or(root);
    let mut object = match root {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    };
    if !defs.is_empty() {
        object.insert("$defs".to_owned(), Value::Object(defs));
    }
    object
}

/// What every tool answers: the verdict, and beside it the answer of this one. A refusal has no answer; it is of the same
/// schema, since some clients hold refusals to it as well.
fn output_of(answer: Schema) -> JsonObject {
    let mut schemas = Schemas::default();
    let mut answer = answer(&mut schemas);
    answer["description"] = json!("The answer. Absent when the call was refused.");
    let finding = schemas.refer("Finding", |_| finding());
    let text = |about: &str| json!({ "type": "string", "description": about });
    let output = json!({
        "type": "object",
        "properties": {
            "allow": { "type": "boolean", "description": "Whether it was done, or may pass." },
            "code": text("OK, or what the refusal is filed under; `explain` tells more."),
            "reason": text("Why."),
            "help": text("What to do."),
            "findings": { "type": "array", "items": finding, "description": "What was found, the gravest first." },
            "rendered": text("The same for people to read, with the places in question."),
            "repeated": { "type": "boolean", "description": "Whether an earlier call with the same key did it." },
            "note": text("What was left out to keep this short, and how to get it."),
            "answer": answer,
        },
        "required": ["allow", "code", "findings"],
        "additionalProperties": false,
        "$defs": schemas.into_defs(),
    });
    match output {
        Value::Object(output) => output,
        _ => JsonObject::new(),
    }
}

fn finding() -> Value {
    let place = json!({ "type": "integer", "minimum": 0 });
    json!({
        "type": "object",
        "description": "One thing that is wrong, where, and what to do.",
        "properties": {
            "rule": { "type": "string" },
            "code": { "type": "string" },
            "severity": { "enum": ["note", "warning", "error"] },
            "message": { "type": "string" },
            "help": { "type": "string" },
            "pointer": { "type": "string", "description": "Where: a JSON pointer." },
            "line": place, "column": place, "end_line": place, "end_column": place,
            "repair": { "description": "A JSON Patch that mends it, if there is one." },
        },
        "required": ["rule", "code", "severity", "message", "help", "pointer"],
    })
}
