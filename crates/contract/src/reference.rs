//! What is said about contracts: schema documents and reference pages.

use crate::canon::SAYS_SOMETHING;
use crate::contract::ContractInfo;
use crate::shape::{Schemas, Shape};
use serde_json::{Map, Value, json};

/// Adds `description` to a schema without touching a reference's target.
pub fn described(mut schema: Value, doc: &str) -> Value {
    if let Value::Object(members) = &mut schema
        && !doc.is_empty()
    {
        members.insert("description".to_owned(), Value::String(doc.to_owned()));
    }
    schema
}

/// A doc comment as one text: lines joined, blank lines kept as paragraphs.
pub fn doc(lines: &[&str]) -> String {
    let mut out = String::new();
    for line in lines.iter().map(|line| line.trim()) {
        match (line.is_empty(), out.is_empty() || out.ends_with('\n')) {
            (true, _) => out.push('\n'),
            (false, true) => out.push_str(line),
            (false, false) => {
                out.push(' ');
                out.push_str(line);
            }
        }
    }
    out.trim().to_owned()
}

/// The schema of an object.
pub fn object_schema(docs: &[&str], properties: Map<String, Value>, required: &[&str], closed: bool) -> Value {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    let doc = doc(docs);
    if !doc.is_empty() {
        schema.insert("description".to_owned(), doc.into());
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if closed {
        schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    Value::Object(schema)
}

/// The whole schema document of a contract.
pub fn schema_document<T: Shape>(name: &str, version: &str, summary: &str) -> Value {
    let mut schemas = Schemas::default();
    let root = T::schema(&mut schemas);
    let mut document = Map::new();
    document.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    document.insert("$id".to_owned(), format!("urn:countersign:contract:{name}:{version}").into());
    document.insert("title".to_owned(), name.into());
    document.insert("description".to_owned(), summary.into());
    if let Value::Object(members) = root {
        document.extend(members);
    }
    document.insert("$defs".to_owned(), Value::Object(schemas.into_defs()));
    Value::Object(document)
}

/// The reference page of a contract, in Markdown: its fields, its example, its rules.
pub fn page(contract: &ContractInfo) -> String {
    let mut out = format!("# {} {}\n\n{}\n", contract.name, contract.version, contract.summary);
    let schema = (contract.schema)();
    let empty = Map::new();
    let defs = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    let root = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.rsplit('/').next());
    let mut names: Vec<&String> = defs.keys().collect();
    names.sort_by_key(|name| (Some(name.as_str()) != root, name.as_str()));
    for name in names {
        let Some(definition) = defs.get(name) else { continue };
        definition_section(name, definition, &mut out);
    }
    out.push_str("\n## Smallest example\n\n```json\n");
    out.push_str(&serde_json::to_string_pretty(&(contract.example)()).unwrap_or_default());
    out.push_str("\n```\n\n## Rules\n\n| rule | code | severity | what it refuses |\n|---|---|---|---|\n");
    for rule in (contract.rules)() {
        let severity = rule.severity.as_str();
        out.push_str(&format!("| `{}` | {} | {severity} | {} |\n", rule.id, rule.code, rule.summary));
    }
    out
}

fn definition_section(name: &str, definition: &Value, out: &mut String) {
    let description = definition.get("description").and_then(Value::as_str).unwrap_or_default();
    out.push_str(&format!("\n## {name}\n\n{description}\n"));
    let Some(properties) = definition.get("properties").and_then(Value::as_object) else {
        out.push_str(&format!("\nForm: {}\n", form(definition)));
        return;
    };
    let required: Vec<_> = definition.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    out.push_str("\n| field | form | needed | meaning |\n|---|---|---|---|\n");
    for (key, field) in properties {
        let needed = if required.iter().any(|it| *it == key) { "yes" } else { "" };
        let meaning = field.get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ");
        out.push_str(&format!("| `{key}` | {} | {needed} | {meaning} |\n", form(field).replace('|', "\\|")));
    }
}

/// A schema in a few words.
fn form(schema: &Value) -> String {
    let mut words = Vec::new();
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        words.push(target.rsplit('/').next().unwrap_or_default().to_owned());
    }
    match schema.get("type") {
        Some(Value::String(kind)) => words.push(kind.clone()),
        Some(Value::Array(kinds)) => {
            words.push(kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "));
        }
        _ => {}
    }
    if let Some(ways) = schema.get("anyOf").and_then(Value::as_array) {
        words.push(ways.iter().map(form).collect::<Vec<_>>().join(" or "));
    }
    if let Some(items) = schema.get("items") {
        words.push(format!("of {}", form(items)));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        let choices: Vec<_> = choices.iter().map(|it| format!("`{}`", it.as_str().unwrap_or_default())).collect();
        words.push(choices.join(", "));
    }
    for (keyword, word) in [
        ("minLength", "at least"),
        ("maxLength", "at most"),
        ("minimum", "from"),
        ("maximum", "to"),
        ("minItems", "at least"),
        ("maxItems", "at most"),
    ] {
        if let Some(bound) = schema.get(keyword) {
            words.push(format!("{word} {bound}"));
        }
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str).filter(|it| *it != SAYS_SOMETHING) {
        words.push(format!("`{pattern}`"));
    }
    if let Some(value) = schema.get("const") {
        words.push(format!("`{value}`"));
    }
    if schema.get("x-untrusted").is_some() {
        words.push("(untrusted)".to_owned());
    }
    words.join(" ")
}
