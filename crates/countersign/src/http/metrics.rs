//! What the server has done, counted, in the text format of Prometheus.

use super::Server;
use super::problem::Outcome;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use countersign_engine::command_row;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The upper ends of the steps that durations are counted in, in seconds.
const STEPS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// Counters.
#[derive(Default)]
pub struct Metrics {
    counted: Mutex<Counted>,
    /// How many requests are inside.
    inside: AtomicUsize,
}

/// A request that is inside, however it comes out.
struct Inside(Arc<Server>);

impl Inside {
    fn enter(server: Arc<Server>) -> Self {
        server.metrics.inside.fetch_add(1, Ordering::Relaxed);
        Self(server)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.metrics.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Counted {
    requests: BTreeMap<(String, String, u16), u64>,
    commands: BTreeMap<(&'static str, &'static str), u64>,
    durations: BTreeMap<String, Durations>,
}

#[derive(Default)]
struct Durations {
    steps: [u64; STEPS.len()],
    count: u64,
    sum: f64,
}

/// Counts a request when it is answered.
pub async fn count(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _inside = Inside::enter(Arc::clone(&server));
    // Labels come from what is known, so that nobody can make up new ones.
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let command = request.uri().path().strip_prefix("/v1/commands/").and_then(command_row).map(|row| row.info.id);
    let method = request.method().clone();
    let method = if method.is_idempotent() || method == "POST" { method.to_string() } else { "other".to_owned() };
    let response = next.run(request).await;
    let outcome = response.extensions().get::<Outcome>().map(|outcome| outcome.0);
    let mut counted = server.metrics.counted.lock().unwrap_or_else(PoisonError::into_inner);
    counted.add(route, method, response.status().as_u16(), began.elapsed());
    if let (Some(command), Some(outcome)) = (command, outcome) {
        *counted.commands.entry((command, outcome)).or_default() += 1;
    }
    drop(counted);
    response
}

impl Counted {
    fn add(&mut self, route: String, method: String, status: u16, took: Duration) {
        let took = took.as_secs_f64();
        let durations = self.durations.entry(route.clone()).or_default();
        *self.requests.entry((route, method, status)).or_default() += 1;
        durations.count += 1;
        durations.sum += took;
        if let Some(step) = STEPS.iter().position(|end| took <= *end) {
            durations.steps[step] += 1;
        }
    }
}

impl Metrics {
    /// All of it as text, with what is not counted but looked at.
    pub fn text(&self, head: u64, streams: usize) -> String {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write(&mut text, &counted);
        for (name, value, help) in [
            ("events_head", head, "The number of the last event."),
            ("event_streams", streams as u64, "How many listen for events."),
            ("requests_in_progress", self.inside.load(Ordering::Relaxed) as u64, "How many requests are worked on."),
        ] {
            let _ = kind(&mut text, name, "gauge", help);
            let _ = writeln!(text, "countersign_{name} {value}");
        }
        text
    }
}

fn kind(text: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(text, "# HELP countersign_{name} {help}\n# TYPE countersign_{name} {kind}")
}

fn write(text: &mut String, counted: &Counted) -> std::fmt::Result {
    kind(text, "requests_total", "counter", "Requests that were answered.")?;
    for ((route, method, status), count) in &counted.requests {
        let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
        writeln!(text, "countersign_requests_total{{{labels}}} {count}")?;
    }
    kind(text, "commands_total", "counter", "Commands by what they were answered with.")?;
    for ((command, code), count) in &counted.commands {
        writeln!(text, "countersign_commands_total{{command=\"{command}\",code=\"{code}\"}} {count}")?;
    }
    kind(text, "request_seconds", "histogram", "How long requests took to be answered.")?;
    for (route, durations) in &counted.durations {
        let mut below = 0;
        for (end, step) in STEPS.iter().zip(durations.steps) {
            below += step;
            writeln!(text, "countersign_request_seconds_bucket{{route=\"{route}\",le=\"{end}\"}} {below}")?;
        }
        writeln!(text, "countersign_request_seconds_bucket{{route=\"{route}\",le=\"+Inf\"}} {}", durations.count)?;
        writeln!(text, "countersign_request_seconds_sum{{route=\"{route}\"}} {}", durations.sum)?;
        writeln!(text, "countersign_request_seconds_count{{route=\"{route}\"}} {}", durations.count)?;
    }
    Ok(())
}
