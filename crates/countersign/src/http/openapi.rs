//! `/openapi.json`: what can be asked, written from the same tables that the routes are made from.

use super::problem::code as door;
use super::{Server, State, answer, commands, reads};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use countersign_contract::Schemas;
use countersign_diagnostic::Code;
use countersign_engine::{COMMANDS, CommandRow, VIEWS, ViewRow};
use serde_json::{Map, Value, json};
use std::sync::{Arc, LazyLock};

pub fn routes() -> Router<Arc<Server>> {
    Router::new().route("/openapi.json", get(show))
}

async fn show(_: State, headers: HeaderMap) -> Response {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
    answer::shown(&DOCUMENT, &headers)
}

/// The whole document.
fn document() -> Value {
    let mut book = Book::default();
    let mut paths = Map::new();
    for row in COMMANDS {
        paths.insert(format!("/v1/commands/{}", row.info.id), json!({ "post": command(row, &mut book) }));
    }
    for row in VIEWS {
        let path = format!("/v1/views/{}", row.info.id);
        paths.insert(path.clone(), json!({ "get": view(row, &path, row.info.id, &mut book) }));
        // Where there are several paths, each is an operation of its own.
        for (n, (path, _)) in (1..).zip(reads::PATHS.iter().filter(|(_, id)| *id == row.info.id)) {
            let name = format!("{}.at{}", row.info.id, if n == 1 { String::new() } else { format!(".{n}") });
            paths.insert((*path).to_owned(), json!({ "get": view(row, path, &name, &mut book) }));
        }
    }
    paths.extend(others());
    book.schemas.insert("Problem".to_owned(), problem());
    book.schemas.insert("Finding".to_owned(), finding());
    book.schemas.insert("Event".to_owned(), event());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Countersign",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Who does what, on which files, until when; and a record of it that nobody can quietly rewrite.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "tags": [
            { "name": "commands", "description": "What can be done. Each is done once for a key." },
            { "name": "views", "description": "What can be looked at. Each has an ETag; lists have cursors." },
            { "name": "server", "description": "The server itself." },
        ],
        "paths": paths,
        "components": {
            "schemas": book.schemas,
            "responses": shared(),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer", "description": "A token of this project." },
            },
        },
    })
}

/// The named schemas of all that can be asked.
#[derive(Default)]
struct Book {
    schemas: Map<String, Value>,
}

impl Book {
    /// A schema, with its names in the book. A name that means something else there already gets another one.
    fn add(&mut self, owner: &str, make: fn(&mut Schemas) -> Value) -> Value {
        let mut schemas = Schemas::default();
        let schema = make(&mut schemas);
        let defs = schemas.into_defs();
        let mut names: Vec<(String, String)> = defs.keys().map(|name| (name.clone(), name.clone())).collect();
        // A name that changes changes those that refer to it.
        while let Some(clash) = names
            .iter()
            .position(|(old, new)| self.schemas.get(new).is_some_and(|known| *known != renamed(&defs[old], &names)))
        {
            names[clash].1 = format!("{}.{owner}", names[clash].1);
        }
        for (old, new) in &names {
            self.schemas.insert(new.clone(), renamed(&defs[old], &names));
        }
        renamed(&schema, &names)
    }

    /// What a reference stands for.
    fn resolved(&self, schema: &Value) -> Value {
        let name = schema["$ref"].as_str().and_then(|it| it.strip_prefix(PREFIX));
        name.and_then(|name| self.schemas.get(name)).unwrap_or(schema).clone()
    }
}

const PREFIX: &str = "#/components/schemas/";

fn renamed(schema: &Value, names: &[(String, String)]) -> Value {
    match schema {
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let name = value.as_str().and_then(|it| it.strip_prefix("#/$defs/")).filter(|_| key == "$ref");
                let new = name.and_then(|name| names.iter().find(|(old, _)| old == name));
                let value = new.map_or_else(|| renamed(value, names), |(_, new)| json!(format!("{PREFIX}{new}")));
                (key.clone(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        Value::Array(items) => items.iter().map(|item| renamed(item, names)).collect(),
        other => other.clone(),
    }
}

fn command(row: &CommandRow, book: &mut Book) -> Value {
    let info = row.info;
    let request = book.add(info.id, row.request);
    let reply = json!({
        "type": "object",
        "required": ["code", "answer", "repeated", "events", "findings"],
        "properties": {
            "code": { "const": countersign_engine::OK },
            "answer": book.add(info.id, row.answer),
            "repeated": { "type": "boolean", "description": "Whether an earlier call with the same key did it." },
            "events": { "type": "array", "items": { "$ref": "#/components/schemas/Event" } },
            "findings": { "type": "array", "items": { "$ref": "#/components/schemas/Finding" } },
        },
    });
    let conflict = Code::ConcurrencyConflict;
    let codes = info.refuses.iter().chain([&conflict]).map(|code| code.as_str());
    let mut codes: Vec<&str> = codes.collect();
    codes.sort_unstable();
    codes.dedup();
    let roles: Vec<&str> = info.may.iter().map(|role| role.as_str()).chain(["owner"]).collect();
    let mut responses = json!({
        "200": { "description": "It was done.", "content": { "application/json": { "schema": reply } } },
        "409": refused("It was understood, and the answer is no.", &codes),
    });
    refer(&mut responses, &["400", "401", "403", "404", "408", "413", "415", "422", "429", "431", "500", "503"]);
    json!({
        "operationId": info.id,
        "tags": ["commands"],
        "summary": info.summary,
        "description": format!("For the roles {}.", roles.join(", ")),
        "parameters": [{
            "name": commands::KEY,
            "in": "header",
            "required": false,
            "description": "What makes a repetition of this call the same call: it is done once, and answered alike.",
            "schema": { "type": "string", "pattern": "^[!-~]+$", "maxLength": commands::KEY_MAX },
        }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": request, "example": (row.example)() } } },
        "responses": responses,
        "x-codes": codes,
        "x-idempotency": info.idempotency(),
        "x-invalidates": info.invalidates,
        "x-telemetry": info.telemetry(),
    })
}

fn view(row: &ViewRow, path: &str, name: &str, book: &mut Book) -> Value {
    let question = book.add(row.info.id, row.question);
    let question = book.resolved(&question);
    let required = |name: &str| question["required"].as_array().into_iter().flatten().any(|it| it == name);
    let fields = question["properties"].as_object().cloned().unwrap_or_default();
    let mut parameters: Vec<Value> = fields
        .iter()
        .map(|(name, schema)| {
            let in_path = path.contains(&format!("{{{name}}}"));
            let mut schema = schema.clone();
            let description = schema.as_object_mut().and_then(|it| it.remove("description")).unwrap_or_default();
            json!({
                "name": name,
                "in": if in_path { "path" } else { "query" },
                "required": in_path || required(name),
                "description": description,
                "schema": schema,
            })
        })
        .collect();
    parameters.push(json!({
        "name": "if-none-match", "in": "header", "required": false,
        "description": "The ETag of what the caller has; the answer is then 304 if that is still so.",
        "schema": { "type": "string" },
    }));
    let shown = book.add(row.info.id, row.shown);
    let tag = json!({ "schema": { "type": "string" }, "description": "A hash of the body; of a bundle a weak one, without when it was written down." });
    let all: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let mut responses = json!({
        "200": { "description": "How it stands.", "headers": { "ETag": tag }, "content": { "application/json": { "schema": shown } } },
        "304": { "description": "The caller has it already." },
        "409": refused("It cannot be shown.", &all),
    });
    refer(&mut responses, &["400", "401", "403", "404", "422", "429", "431", "500", "503"]);
    json!({
        "operationId": name,
        "tags": ["views"],
        "summary": row.info.summary,
        "parameters": parameters,
        "responses": responses,
    })
}

fn others() -> Map<String, Value> {
    let text = |media: &str, schema: Value| {
        let mut responses = json!({ "200": { "description": "It.", "content": { media: { "schema": schema } } } });
        refer(&mut responses, &["400", "401", "403", "429", "431", "500", "503"]);
        responses
    };
    let operation = |id: &str, summary: &str, responses: Value| json!({ "operationId": id, "tags": ["server"], "summary": summary, "responses": responses });
    let status = json!({
        "type": "object",
        "required": ["status"],
        "properties": { "status": { "const": "ok" }, "head": { "type": "integer" } },
    });
    let mut health = operation("healthz", "Whether the server is there", text("application/json", status.clone()));
    health["security"] = json!([]);
    let mut events = operation(
        "events",
        "Events as they are recorded, as server-sent events; each carries its number as id",
        text("text/event-stream", json!({ "type": "string" })),
    );
    refer(&mut events["responses"], &["422"]);
    let number = json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 });
    events["parameters"] = json!([
        { "name": "since", "in": "query", "required": false, "description": "The first event that is wanted; 1, if it is not said.", "schema": number },
        { "name": "run", "in": "query", "required": false, "description": "Only events of this run.", "schema": { "type": "string" } },
        { "name": "last-event-id", "in": "header", "required": false, "description": "The last event that was seen; counts for more than `since`.", "schema": number },
    ]);
    let paths = [
        ("/v1/events", events),
        ("/healthz", health),
        ("/readyz", operation("readyz", "Whether the ledger answers", text("application/json", status))),
        ("/metrics", operation("metrics", "What was done, counted", text("text/plain", json!({ "type": "string" })))),
        ("/openapi.json", operation("openapi", "This document", text("application/json", json!({ "type": "object" })))),
    ];
    paths.into_iter().map(|(path, get)| (path.to_owned(), json!({ "get": get }))).collect()
}

/// Responses that are the same everywhere, by status.
const SHARED: &[(&str, &str, &[&str])] = &[
    ("400", "The request cannot be read.", &["SCHEMA_INVALID", "MISSING_REQUIRED_INPUT", "UNTRUSTED_CONTEXT_BLOCK"]),
    ("401", "No token, or none that is known.", &[door::UNAUTHENTICATED]),
    ("403", "It is not for this caller.", &["AUTHORIZATION_MISSING", door::HOST_NOT_ALLOWED, door::ORIGIN_NOT_ALLOWED]),
    ("404", "There is no such thing.", &[door::NOT_FOUND, "DEPENDENCY_NOT_MET"]),
    ("408", "The body did not arrive in time.", &[door::TOO_SLOW]),
    ("413", "The body is too long.", &[door::BODY_TOO_LARGE]),
    ("415", "The body is not JSON in UTF-8, as it is and not packed.", &[door::MEDIA_TYPE_UNSUPPORTED]),
    (
        "422",
        "The request is not of its shape; the findings say where.",
        &["SCHEMA_INVALID", "MISSING_REQUIRED_INPUT", "UNKNOWN_SCHEMA_VERSION", "UNTRUSTED_CONTEXT_BLOCK"],
    ),
    ("429", "Too many requests with one token.", &[door::RATE_LIMITED]),
    ("431", "The headers are too many or too long, or the question is.", &[door::HEADERS_TOO_LARGE]),
    ("500", "The server broke off; with the same key it is done once.", &[door::INTERNAL, door::OUTCOME_UNKNOWN]),
    ("503", "Not now.", &[door::BUSY, door::LEDGER_UNAVAILABLE]),
];

fn shared() -> Map<String, Value> {
    SHARED.iter().map(|(status, about, codes)| (format!("Problem{status}"), refused(about, codes))).collect()
}

fn refer(responses: &mut Value, statuses: &[&str]) {
    for status in statuses {
        responses[*status] = json!({ "$ref": format!("#/components/responses/Problem{status}") });
    }
}

fn refused(about: &str, codes: &[&str]) -> Value {
    let schema = json!({
        "allOf": [{ "$ref": "#/components/schemas/Problem" }],
        "properties": { "code": { "enum": codes } },
    });
    json!({ "description": about, "content": { "application/problem+json": { "schema": schema } } })
}

fn problem() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).chain(door::ALL.iter().copied()).collect();
    json!({
        "type": "object",
        "description": "Why something does not go (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "help", "findings"],
        "properties": {
            "type": { "type": "string", "format": "uri" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string", "description": "One sentence." },
            "code": { "enum": codes },
            "help": { "type": "string", "description": "What to do." },
            "findings": { "type": "array", "items": { "$ref": "#/components/schemas/Finding" } },
            "run": { "type": "string", "description": "The run that it is about." },
        },
    })
}

fn finding() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let number = json!({ "type": "integer", "minimum": 1 });
    json!({
        "type": "object",
        "description": "One thing that is wrong, where, and what to do.",
        "required": ["rule", "code", "severity", "message", "pointer", "help"],
        "properties": {
            "rule": { "type": "string" },
            "code": { "enum": codes },
            "severity": { "enum": ["note", "warning", "error"] },
            "message": { "type": "string" },
            "pointer": { "type": "string", "description": "Where, as a JSON pointer." },
            "line": number, "column": number, "end_line": number, "end_column": number,
            "help": { "type": "string" },
            "repair": { "type": ["object", "null"], "description": "A change that mends it." },
        },
    })
}

fn event() -> Value {
    json!({
        "type": "object",
        "description": "What was recorded: the event as it is stored, and its hash.",
        "required": ["seq", "kind", "v", "actor", "time", "facts", "hash"],
        "properties": {
            "seq": { "type": "integer", "minimum": 1 },
            "kind": { "type": "string" },
            "v": { "type": "integer" },
            "actor": { "type": "string" },
            "time": { "type": "string", "format": "date-time" },
            "facts": { "type": "object" },
            "hash": { "type": "string" },
        },
    })
}
