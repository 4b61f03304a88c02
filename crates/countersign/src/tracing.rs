//! Sending traces beside the work of `run`, `serve` and `handoff send|receive`, when an endpoint is configured. Whatever is wrong with that is said, and
//! the work goes on.

use crate::cli::asking::Here;
use crate::cli::output::say;
use crate::home::Home;
use crate::place::Place;
use crate::project::{FOLDER, Project};
use anyhow::{Context, bail};
use countersign_engine::Engine;
use countersign_runner::otlp::{Exporter, Named, Say, Settings, is_local};
use std::sync::{Arc, Mutex, PoisonError};

/// Traces that are sent while something goes on.
pub struct Tracing {
    exporter: Option<Exporter>,
    /// What is said at the end, so that it does not stand across what is drawn meanwhile.
    later: Arc<Mutex<Vec<String>>>,
}

impl Tracing {
    /// Beside a run in this process. The ledger is opened once more, so that neither waits for the other.
    pub fn beside_run(here: &Here<'_>) -> Self {
        let later = Arc::<Mutex<Vec<String>>>::default();
        let notes = Arc::clone(&later);
        let note = move |note: &str| notes.lock().unwrap_or_else(PoisonError::into_inner).push(note.to_owned());
        let engine = || Ok(Arc::new(Place::engine_of(here.project, here.global.ledger.as_deref())?));
        Self { exporter: started(here.project, engine, Box::new(note)), later }
    }

    /// Beside a verb that records something by itself, such as sending a handoff. A server that is asked sends its own.
    pub fn beside_verb(here: &Here<'_>) -> Self {
        if crate::client::must_be_local(here.project, here.global).is_err() {
            return Self { exporter: None, later: Arc::default() };
        }
        Self::beside_run(here)
    }

    /// Beside a server.
    pub fn beside_server(engine: &Arc<Engine>, project: &Project) -> Self {
        let engine = || Ok(Arc::clone(engine));
        Self { exporter: started(project, engine, Box::new(warn)), later: Arc::default() }
    }

    /// Sends what has ended by now, for a few seconds at most, and says what went wrong.
    pub fn end(self) {
        let left = self.exporter.and_then(Exporter::finish);
        let notes = std::mem::take(&mut *self.later.lock().unwrap_or_else(PoisonError::into_inner));
        // Who never answered has been said to have not.
        let left = left.filter(|_| notes.is_empty());
        notes.into_iter().chain(left).for_each(|note| warn(&note));
    }
}

fn warn(note: &str) {
    say(&format!("warning: tracing: {note}"));
}

fn started(project: &Project, engine: impl FnOnce() -> anyhow::Result<Arc<Engine>>, note: Say) -> Option<Exporter> {
    start(project, engine, note).unwrap_or_else(|error| {
        warn(&format!("nothing is sent: {error:#}"));
        None
    })
}

fn start(
    project: &Project,
    engine: impl FnOnce() -> anyhow::Result<Arc<Engine>>,
    note: Say,
) -> anyhow::Result<Option<Exporter>> {
    let Some(settings) = settings(project)? else { return Ok(None) };
    let root = project.root.as_ref().context("there is no project here to keep the place in the log in")?;
    let engine = engine()?;
    let settings = settings.with_resource("countersign.project.id", engine.ledger().project());
    let exporter = Exporter::start(engine, settings, &root.join(FOLDER), note).map_err(anyhow::Error::msg)?;
    Ok(Some(exporter))
}

/// Where traces go: what the environment says, or else the project's settings. Those may not choose another machine by themselves:
/// the user must have named it before.
pub fn settings(project: &Project) -> anyhow::Result<Option<Settings>> {
    let read = |named| Settings::read(&variable, named).map_err(anyhow::Error::msg);
    if let Some(settings) = read(None)? {
        return Ok(Some(settings));
    }
    let Some(endpoint) = project.tracing.endpoint.as_deref().filter(|endpoint| !endpoint.is_empty()) else {
        return Ok(None);
    };
    let by_person = Home::find().is_ok_and(|home| home.trusts(&trusted(endpoint)));
    if !by_person && !is_local(endpoint) {
        bail!(
            "the project's settings name the collector {endpoint}, which this user has not named before; if it is the right one, \
             set OTEL_EXPORTER_OTLP_ENDPOINT, or name it once with `countersign trace RUN --send --endpoint {endpoint}`"
        );
    }
    read(Some(Named { endpoint, protocol: project.tracing.protocol.as_deref(), by_person }))
}

/// The same for an address that a person types.
pub fn settings_at(project: &Project, endpoint: &str) -> anyhow::Result<Option<Settings>> {
    let named = Named { endpoint, protocol: project.tracing.protocol.as_deref(), by_person: true };
    let settings = Settings::read(&variable, Some(named)).map_err(anyhow::Error::msg)?;
    Home::find()?.trust(&trusted(endpoint))?;
    Ok(settings)
}

/// A collector among the addresses that a user has named. It is not taken for a database or a server.
fn trusted(endpoint: &str) -> String {
    format!("traces {endpoint}")
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
