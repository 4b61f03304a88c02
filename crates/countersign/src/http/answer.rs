//! What is said when something goes.

use super::problem::{Outcome, Problem};
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use countersign_diagnostic::render::json::diagnostic;
use countersign_diagnostic::{Source, visible_json};
use countersign_engine::{OK, Reply, Stored};
use countersign_ledger::Hash;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// What came of a command, written from where it lies.
#[derive(Serialize)]
struct Done<'a> {
    code: &'static str,
    answer: &'a Value,
    repeated: bool,
}

/// What came of a command.
pub fn done(reply: &Reply) -> Result<Response, Problem> {
    let source = Source { name: "", text: "" };
    let done = Done { code: OK, answer: &reply.answer, repeated: reply.repeated };
    let findings: Vec<Value> = reply.findings.iter().map(|it| diagnostic(it, source)).collect();
    let mut body = serde_json::to_string(&done).map_err(|_| Problem::internal())?;
    body.truncate(body.len() - 1);
    body.push_str(",\"events\":[");
    for (nth, stored) in reply.events.iter().enumerate() {
        body.push_str(if nth > 0 { "," } else { "" });
        push_event(&mut body, stored);
    }
    body.push_str("],\"findings\":");
    body.push_str(&serde_json::to_string(&findings).map_err(|_| Problem::internal())?);
    body.push('}');
    let mut response = with_type(body, "application/json");
    response.extensions_mut().insert(Outcome(OK));
    Ok(response)
}

/// An event as it is stored, with its hash as the last of its fields. The stored bytes are JSON already, and are not written anew.
pub fn event(stored: &Stored) -> String {
    let mut text = String::new();
    push_event(&mut text, stored);
    text
}

fn push_event(text: &mut String, stored: &Stored) {
    let fields = stored.body.strip_suffix('}').unwrap_or(&stored.body);
    text.reserve(stored.body.len() + 80);
    text.push_str(fields);
    // Text takes whatever is written to it.
    let _ = write!(text, ",\"hash\":\"{}\"}}", stored.hash);
}

/// What is shown, unless the caller has it already.
pub fn shown(value: &Value, headers: &HeaderMap) -> Response {
    let body = visible_json(&value.to_string()).into_owned();
    let timeless = timeless(value);
    let told = timeless.as_ref().map_or_else(|| body.clone(), Value::to_string);
    let tag = format!("\"{}\"", &Hash::of(told.as_bytes()).hex()[..32]);
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
    // A weak one says that what is meant is the same, not each byte.
    let weak = if timeless.is_some() { "W/" } else { "" };
    if let Ok(tag) = HeaderValue::from_str(&format!("{weak}{tag}")) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.extensions_mut().insert(Outcome(OK));
    response
}

/// A bundle without when it was written down, and without how many tokens it has with that: the run stands as it did. None, if it is
/// something else, which says nothing of the kind.
fn timeless(value: &Value) -> Option<Value> {
    value.get("bundle")?.get("generated_at")?;
    let mut value = value.clone();
    value["bundle"].as_object_mut()?.remove("generated_at");
    value.as_object_mut()?.remove("tokens");
    Some(value)
}

/// A text of a type.
pub fn with_type(body: impl Into<Body>, media_type: &'static str) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
