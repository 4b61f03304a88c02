//! What is said when something goes.

use super::problem::Outcome;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use countersign_diagnostic::render::json::diagnostic;
use countersign_diagnostic::{Source, visible_json};
use countersign_engine::{OK, Reply, Stored};
use countersign_ledger::Hash;
use serde_json::{Value, json};

/// What came of a command.
pub fn done(reply: &Reply) -> Response {
    let events: Vec<Value> = reply.events.iter().map(event).collect();
    let source = Source { name: "", text: "" };
    let findings: Vec<Value> = reply.findings.iter().map(|it| diagnostic(it, source)).collect();
    let body = json!({
        "code": OK,
        "answer": reply.answer,
        "repeated": reply.repeated,
        "events": events,
        "findings": findings,
    });
    let mut response = with_type(body.to_string(), "application/json");
    response.extensions_mut().insert(Outcome(OK));
    response
}

/// An event as it is stored, with its hash.
pub fn event(stored: &Stored) -> Value {
    let mut event = stored.value.clone();
    event["hash"] = json!(stored.hash.to_string());
    event
}

/// What is shown, unless the caller has it already.
pub fn shown(value: &Value, headers: &HeaderMap) -> Response {
    let body = visible_json(&value.to_string()).into_owned();
    let tag = format!("\"{}\"", &Hash::of(body.as_bytes()).hex()[..32]);
    let same = |it: &str| it == "*" || it.strip_prefix("W/").unwrap_or(it) == tag;
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let mut response = match known.flat_map(|it| it.split(',')).any(|it| same(it.trim())) {
        true => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => with_type(body, "application/json"),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.extensions_mut().insert(Outcome(OK));
    response
}

/// A text of a type.
pub fn with_type(body: impl Into<Body>, media_type: &'static str) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
