//! `POST /v1/commands/{id}`: one route for each row of the table of commands.

use super::problem::{Problem, code};
use super::{Caller, Server, State, answer};
use crate::place::must_be_usable;
use crate::world::{Afar, Around};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Path};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use countersign_diagnostic::Code;
use countersign_engine::{Call, Engine, Failure, Reply, command_row};
use countersign_ledger as ledger;
use std::sync::Arc;

/// What makes a repetition the same call.
pub const KEY: &str = "idempotency-key";
/// How long that may be.
pub const KEY_MAX: usize = 200;

pub fn routes() -> Router<Arc<Server>> {
    Router::new().route("/v1/commands/{id}", post(command))
}

async fn command(
    server: State,
    Extension(caller): Extension<Caller>,
    id: Result<Path<String>, axum::extract::rejection::PathRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let Some(row) = command_row(&id) else {
        let known = server.engine.ask(&countersign_engine::Nowhere, &caller.call(None), &id, "");
        return Err(known.err().map_or_else(Problem::internal, |failure| Problem::of(failure, "")));
    };
    let call = caller.call(key(&headers)?);
    must_be_json(&headers)?;
    let text = read(&server, server.settings.body_max, &headers, body).await?;
    let permit = Arc::clone(&server.at_once).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::busy("too many requests are worked on"))?;
    let (server, id) = (Arc::clone(&server), row.info.id);
    // It goes on even if the caller goes away: what was accepted is finished.
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let around = Around { project: &server.project };
        match ask(&server.engine, &Afar(&around), &call, id, &text) {
            Ok(reply) => answer::done(&reply),
            Err(failure) => Err(Problem::of(failure, &text)),
        }
    });
    work.await.unwrap_or_else(|_| Err(Problem::internal()))
}

fn ask(engine: &Engine, around: &Afar<'_>, call: &Call, id: &str, text: &str) -> Result<Reply, Failure> {
    let reply = engine.ask(around, call, id, text)?;
    if reply.events.iter().any(|event| !event.value["erase"].is_null()) && !reply.repeated {
        // What was erased is gone when the caller is told so.
        engine.ledger().store().and_then(|mut store| store.scrub()).map_err(|error| {
            let why = format!("the text is erased from the ledger, but a copy of it is left: {error}");
            Failure::Ledger(ledger::Error::NotWritten(why))
        })?;
    }
    Ok(reply)
}

fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let refused = |why: String| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            Code::SchemaInvalid.as_str(),
            why,
            "use an id that you make for this call",
        )
    };
    let mut all = headers.get_all(KEY).iter();
    let Some(first) = all.next() else { return Ok(None) };
    if all.next().is_some() {
        return Err(refused("there are several headers Idempotency-Key".to_owned()));
    }
    let text = first.to_str().map_err(|_| refused("the header Idempotency-Key is not ASCII".to_owned()))?;
    if text.is_empty() || text.len() > KEY_MAX || !text.bytes().all(|it| it.is_ascii_graphic()) {
        return Err(refused(format!("the header Idempotency-Key is not 1 to {KEY_MAX} visible characters")));
    }
    must_be_usable("Idempotency-Key", Some(text)).map_err(|error| refused(error.to_string()))?;
    Ok(Some(text.to_owned()))
}

pub(super) fn must_be_json(headers: &HeaderMap) -> Result<(), Problem> {
    let said = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = said.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let (status, code) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, code::MEDIA_TYPE_UNSUPPORTED);
    Err(Problem::new(status, code, "the request is not of the type application/json", "send it as application/json"))
}

/// The body, if it is short enough and comes in time.
pub(super) async fn read(server: &Server, max: usize, headers: &HeaderMap, body: Body) -> Result<String, Problem> {
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > max as u64) {
        return Err(Problem::too_large(max));
    }
    let bytes = match tokio::time::timeout(server.settings.patience, to_bytes(body, max)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => {
            let source = std::error::Error::source(&error);
            if source.is_some_and(|it| it.is::<http_body_util::LengthLimitError>()) {
                return Err(Problem::too_large(max));
            }
            let status = StatusCode::BAD_REQUEST;
            return Err(Problem::new(status, Code::SchemaInvalid.as_str(), "the body broke off", "send all of it"));
        }
        Err(_) => {
            let (status, why) = (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time");
            return Err(Problem::new(status, code::TOO_SLOW, why, "send it at once"));
        }
    };
    String::from_utf8(bytes.into()).map_err(|_| {
        let (status, why) = (StatusCode::BAD_REQUEST, "the body is not UTF-8");
        Problem::new(status, Code::SchemaInvalid.as_str(), why, "send JSON in UTF-8")
    })
}
