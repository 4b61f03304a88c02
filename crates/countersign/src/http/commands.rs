//! `POST /v1/commands/{id}`: one route for each row of the table of commands.

use super::problem::{Problem, code};
use super::{Caller, Server, State, answer};
use crate::place::must_be_usable;
use crate::world::{Afar, Around};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Path};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use countersign_diagnostic::Code;
use countersign_domain::deciding::Writes;
use countersign_engine::{Call, CommandRow, Engine, Failure, Stored, command_row};
use countersign_ledger as ledger;
use futures_util::FutureExt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

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
    let server = Arc::clone(&server);
    // What was accepted is finished, and holds its place until then.
    let work = async move {
        let _permit = permit;
        carry_out(server, call, row, text).await
    };
    Accepted { work: Some(Box::pin(work)) }.await
}

/// Work that goes on even if the caller goes away: it is done where its caller waits, and is a job of its own from when nobody does.
struct Accepted<W: Future + Send + 'static> {
    /// Nothing once it has ended, or broke.
    work: Option<Pin<Box<W>>>,
}

impl<W: Future + Send + 'static> Future for Accepted<W> {
    type Output = W::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W::Output> {
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<W: Future + Send + 'static> Drop for Accepted<W> {
    fn drop(&mut self) {
        let (work, runtime) = (self.work.take(), tokio::runtime::Handle::try_current());
        if let (Some(work), Ok(runtime)) = (work, runtime) {
            runtime.spawn(async move { drop(work.await) });
        }
    }
}

/// Carries a command out. No thread waits for its commit.
async fn carry_out(
    server: Arc<Server>,
    call: Call,
    row: &'static CommandRow,
    text: String,
) -> Result<Response, Problem> {
    let here = Arc::clone(&server);
    // What only says that somebody lives asks nobody.
    let may_be_tracked = row.info.writes != Writes::Liveness && server.marks.is_any_there();
    let keeps = may_keep_a_thread(&server, &text) || may_be_tracked;
    let begun = on_some_thread(keeps, move || {
        let around = Around { project: &here.project, may_be_tracked };
        match here.engine.begin(&Afar(&around), &call, row.info.id, &text) {
            Ok(begun) => Ok((begun, text)),
            Err(failure) => Err(Problem::of(failure, &text)),
        }
    });
    let (begun, text) = begun.await??;
    let patience = server.engine.ledger().patience();
    let ended = begun.ended(|| tokio::time::sleep(patience)).await;
    let here = Arc::clone(&server);
    let reply = on_some_thread(server.engine.ledger().is_far(), move || ended.reply(&here.engine)).await?;
    let reply = match reply {
        Ok(reply) if !reply.repeated && reply.events.iter().any(Stored::erases) => {
            on_some_thread(true, move || scrub(&server.engine).map(|()| reply)).await?
        }
        reply => reply,
    };
    match reply {
        Ok(reply) => answer::done(&reply),
        Err(failure) => Err(Problem::of(failure, &text)),
    }
}

/// How long a request may be to be read where it arrives, beside others.
const SHORT_BYTES_MAX: usize = 64 * 1024;

/// Whether to take a command up can keep a thread for long, beside by asking git: by journeys to the ledger, or by much to read.
fn may_keep_a_thread(server: &Server, text: &str) -> bool {
    server.engine.ledger().is_far() || text.len() > SHORT_BYTES_MAX
}

/// Does something here, or where it may keep a thread.
async fn on_some_thread<T: Send + 'static>(
    keeps: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    if keeps { tokio::task::spawn_blocking(work).await.map_err(|_| Problem::internal()) } else { Ok(work()) }
}

/// What was erased is gone when the caller is told so.
fn scrub(engine: &Engine) -> Result<(), Failure> {
    engine.ledger().store().and_then(|mut store| store.scrub()).map_err(|error| {
        let why = format!("the text is erased from the ledger, but a copy of it is left: {error}");
        Failure::Ledger(ledger::Error::NotWritten(why))
    })
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

/// Refuses a body that is not JSON as it is: of another type, in another encoding, or packed.
pub(super) fn must_be_json(headers: &HeaderMap) -> Result<(), Problem> {
    let refused = |why: &str, help: &str| {
        let (status, code) = (StatusCode::UNSUPPORTED_MEDIA_TYPE, code::MEDIA_TYPE_UNSUPPORTED);
        Err(Problem::new(status, code, why, help))
    };
    let said = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let mut parts = said.split(';').map(str::trim);
    if !parts.next().unwrap_or_default().eq_ignore_ascii_case("application/json") {
        return refused("the request is not of the type application/json", "send it as application/json");
    }
    let is_utf8 = |charset: &str| ["utf-8", "utf8", "us-ascii"].iter().any(|it| charset.eq_ignore_ascii_case(it));
    let is_other = |(name, value): (&str, &str)| {
        name.trim().eq_ignore_ascii_case("charset") && !is_utf8(value.trim().trim_matches('"'))
    };
    if parts.filter_map(|it| it.split_once('=')).any(is_other) {
        return refused("the request is in another charset than UTF-8", "send it in UTF-8, which is what JSON is in");
    }
    let mut packed = headers.get_all(CONTENT_ENCODING).iter();
    if packed.any(|it| !it.is_empty() && !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return refused("the request is packed (Content-Encoding)", "send it as it is, without Content-Encoding");
    }
    Ok(())
}

/// The body, if it is short enough and comes in time.
pub(super) async fn read(server: &Server, max: usize, headers: &HeaderMap, body: Body) -> Result<String, Problem> {
    let length = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > max as u64) {
        return Err(Problem::too_large(max));
    }
    let mut arriving = pin!(to_bytes(body, max));
    // As a rule all of it has come with the head, and nobody needs a clock.
    let arrived = match arriving.as_mut().now_or_never() {
        Some(arrived) => Ok(arrived),
        None => tokio::time::timeout(server.settings.patience, arriving).await,
    };
    let bytes = match arrived {
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
