//! `GET /v1/events`: events as they are recorded, as server-sent events. Whoever was cut off goes on after the last one
//! they saw.

use super::problem::Problem;
use super::{Caller, Server, State, answer};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Query};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use countersign_diagnostic::{Code, visible_json};
use countersign_domain::ids::RunId;
use countersign_engine::{Call, Engine, Stored};
use countersign_ledger as ledger;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};

/// How many events are read at once.
const PAGE: usize = 256;
/// How many streams one token may have at once.
const EACH_MAX: usize = 16;
/// How often a sign of life is sent when nothing happens, and looked whether who listens still may, and the ledger is still
/// this one.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub fn routes() -> Router<Arc<Server>> {
    Router::new().route("/v1/events", get(events))
}

async fn events(
    server: State,
    Extension(caller): Extension<Caller>,
    query: Result<Query<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asked = Asked::read(&headers, query.map_or_else(|_| vec![(String::new(), String::new())], |it| it.0))?;
    let place = Place::take(&server, caller.token())?;
    // Who is cut off comes back, and is to be told why there is nothing to come back to.
    let here = Arc::clone(&server);
    let open = tokio::task::spawn_blocking(move || here.engine.ledger().must_be_open()).await;
    open.map_err(|_| Problem::internal())?.map_err(Problem::of_ledger)?;
    let stream = Stream {
        server: Arc::clone(&server),
        call: caller.call(None),
        token: caller.token().to_owned(),
        run: asked.run,
        next: asked.next,
        page: VecDeque::new(),
        head: server.head.clone(),
        ending: server.ending.clone(),
        _place: place,
    };
    let events = futures_util::stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, std::convert::Infallible>(event), stream))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response())
}

/// How many listen with each token.
pub type Listeners = Mutex<HashMap<String, usize>>;

/// A place among those that listen, of which no token has all.
struct Place {
    server: Arc<Server>,
    token: String,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    fn take(server: &Arc<Server>, token: &str) -> Result<Self, Problem> {
        let mut all = server.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get(token).copied().unwrap_or(0);
        if own >= EACH_MAX {
            return Err(Problem::too_many_streams(EACH_MAX));
        }
        let permit = Arc::clone(&server.streams).try_acquire_owned();
        let permit = permit.map_err(|_| Problem::busy("too many listen for events"))?;
        all.insert(token.to_owned(), own + 1);
        Ok(Self { server: Arc::clone(server), token: token.to_owned(), _permit: permit })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.server.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&self.token) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(all.remove(&self.token)),
        }
    }
}

/// Where to begin, and of which run.
struct Asked {
    next: u64,
    run: Option<String>,
}

impl Asked {
    fn read(headers: &HeaderMap, query: Vec<(String, String)>) -> Result<Self, Problem> {
        let refused = |why: String| {
            let help = "say `since` (an event's number) and `run`, each once, or the header Last-Event-ID";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Code::SchemaInvalid.as_str(), why, help)
        };
        let number = |name: &str, text: &str| {
            text.parse::<u64>()
                .ok()
                .filter(|it| *it < 1 << 53)
                .ok_or_else(|| refused(format!("{name} is no number of an event")))
        };
        let (mut since, mut run) = (None, None);
        for (name, value) in query {
            match name.as_str() {
                "since" if since.is_none() => since = Some(number("since", &value)?),
                "run" if run.is_none() => {
                    run = Some(RunId::parse(&value).ok_or_else(|| refused("run is no id of a run".to_owned()))?);
                }
                _ => return Err(refused("the query has something else in it, or the same twice".to_owned())),
            }
        }
        // Where a client was cut off counts for more than where it once began.
        let seen = match headers.get("last-event-id") {
            Some(text) => Some(number("Last-Event-ID", text.to_str().unwrap_or_default())?),
            None => None,
        };
        let next = seen.map(|seen| seen + 1).or(since).unwrap_or(1).max(1);
        Ok(Self { next, run: run.map(|run| run.as_str().to_owned()) })
    }
}

/// Somebody who listens.
struct Stream {
    server: Arc<Server>,
    call: Call,
    /// The id of the token that was shown when it began.
    token: String,
    run: Option<String>,
    /// The event that comes next, or one after it.
    next: u64,
    page: VecDeque<Stored>,
    head: watch::Receiver<u64>,
    ending: watch::Receiver<bool>,
    _place: Place,
}

impl Stream {
    /// The next event, when there is one; none, when the server ends, the token does, or the ledger cannot be read or has moved.
    async fn next(&mut self) -> Option<Event> {
        loop {
            // Who listens for long is not known for ever by what they once showed.
            if *self.ending.borrow() || !self.server.tokens.is_good(&self.token).unwrap_or(false) {
                return None;
            }
            if let Some(stored) = self.page.pop_front() {
                self.next = stored.seq + 1;
                return Some(shown(&self.server.engine.disclosed(&self.call, stored)));
            }
            // Before the page: what comes while it is read is not waited for in vain.
            let head = *self.head.borrow_and_update();
            let (engine, run, from) = (Arc::clone(&self.server.engine), self.run.clone(), self.next);
            let page = tokio::task::spawn_blocking(move || page(&engine, from, run.as_deref()));
            self.page = page.await.ok()?.ok()?.into();
            if !self.page.is_empty() {
                continue;
            }
            self.next = self.next.max(head + 1);
            tokio::select! {
                changed = self.head.changed() => changed.ok()?,
                changed = self.ending.changed() => changed.ok()?,
                () = tokio::time::sleep(HEARTBEAT) => {}
            }
        }
    }
}

fn page(engine: &Engine, from: u64, run: Option<&str>) -> ledger::Result<Vec<Stored>> {
    engine.ledger().must_be_open()?;
    engine.ledger().events(from, run, PAGE)?.into_iter().map(Stored::of).collect()
}

fn shown(stored: &Stored) -> Event {
    let data = answer::event(stored);
    Event::default().id(stored.seq.to_string()).event(stored.text("kind")).data(visible_json(&data))
}
