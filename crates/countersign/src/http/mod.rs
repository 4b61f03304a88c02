//! The HTTP door: `countersign serve`.
//!
//! ```text
//! connection ─▶ watch (counts, catches panics) ─▶ gate (Host, Origin, token, rate) ─▶ route ─▶ engine
//! ```
//!
//! Questions are answered on a blocking thread. A command is taken up where it arrives, or on a blocking thread where that can keep
//! it; it stands in the writer's line, and no thread waits for its commit. Its place among those that are worked on is held until
//! it is answered, whether or not its caller is still there.
//!
//! Every route is made from the engine's tables, and so is the document that describes them (`openapi.rs`).
//!
//! **Invariant:** nothing but `/healthz` is answered to somebody who shows no token.
//! **Absent on purpose:** decisions. What may be done is decided by the engine; here it is only translated.

mod agents;
mod answer;
mod commands;
mod events;
mod gate;
mod health;
pub mod listen;
mod marks;
mod metrics;
mod openapi;
mod problem;
mod reads;
mod tokens;
mod upkeep;
mod words;

pub use gate::{Caller, Hosts};
pub use listen::{Listening, Tls};

use crate::project::Project;
use crate::token::Tokens;
use axum::Router;
use axum::middleware::from_fn_with_state;
use countersign_engine::Engine;
use metrics::Metrics;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, watch};

/// How many bytes the body of a request may have.
pub const BODY_MAX: usize = 16 * 1024 * 1024;
/// How many requests are worked on at once; others are told to come back.
const AT_ONCE_MAX: usize = 512;
/// How many may listen for events at once.
const STREAMS_MAX: usize = 64;

/// What may be set about a server.
pub struct Settings {
    /// What it may be called by.
    pub hosts: Hosts,
    /// How many bytes the body of a request may have.
    pub body_max: usize,
    /// How many requests a second a token may make.
    pub rate: u32,
    /// How long a request may take to arrive, a question to be answered, and a command to get the writer's place.
    pub patience: Duration,
}

/// What every route can use.
pub struct Server {
    engine: Arc<Engine>,
    project: Arc<Project>,
    marks: marks::Marks,
    settings: Settings,
    tokens: tokens::Known,
    rates: gate::Rates,
    metrics: Metrics,
    /// The end of the log, as it grows.
    head: watch::Receiver<u64>,
    /// Whether the server is to end.
    ending: watch::Receiver<bool>,
    streams: Arc<Semaphore>,
    listeners: events::Listeners,
    at_once: Arc<Semaphore>,
}

type State = axum::extract::State<Arc<Server>>;

impl Server {
    /// A server of a project, until `ending` says so.
    pub fn new(
        engine: Arc<Engine>,
        project: Arc<Project>,
        tokens: Tokens,
        settings: Settings,
        ending: watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        let head = upkeep::follow(&engine)?;
        let rates = gate::Rates::new(settings.rate);
        Ok(Arc::new(Self {
            engine,
            marks: marks::Marks::around(&project),
            project,
            settings,
            tokens: tokens::Known::new(tokens),
            rates,
            metrics: Metrics::default(),
            head,
            ending,
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
            listeners: events::Listeners::default(),
            at_once: Arc::new(Semaphore::new(AT_ONCE_MAX)),
        }))
    }

    /// Every route, behind the gate.
    pub fn router(self: &Arc<Self>) -> Router {
        let routes = Router::new()
            .merge(health::routes())
            .merge(commands::routes())
            .merge(reads::routes())
            .merge(events::routes())
            .merge(openapi::routes())
            .with_state(Arc::clone(self));
        let routes = routes.merge(agents::routes(self));
        let routes = routes.fallback(problem::no_route).method_not_allowed_fallback(problem::no_method);
        self.guarded(routes)
    }

    /// Routes with what stands before every one of them.
    fn guarded(self: &Arc<Self>, routes: Router) -> Router {
        routes
            .layer(from_fn_with_state(Arc::clone(self), gate::pass))
            .layer(tower_http::catch_panic::CatchPanicLayer::custom(problem::broke))
            .layer(from_fn_with_state(Arc::clone(self), metrics::count))
    }

    /// Waits until nothing is worked on any more, also of what callers have gone away from.
    pub async fn rest(&self) {
        // Nobody closes it.
        let _ = self.at_once.acquire_many(AT_ONCE_MAX as u32).await;
    }

    /// Acts on deadlines when they are due, until the server ends.
    pub async fn keep_time(self: Arc<Self>) {
        upkeep::keep_time(&self).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;
    use crate::home::Home;
    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use axum::routing::get;
    use tower::ServiceExt;

    fn server() -> Arc<Server> {
        let engine = Arc::new(
            Engine::create(Box::new(countersign_ledger::Memory::new(countersign_ledger::Clock::System)), "test")
                .unwrap(),
        );
        let project = Arc::new(Project::find(None, None).unwrap());
        let tokens = Tokens::of(&Home::find().unwrap(), "test");
        let hosts = Hosts::new(([127, 0, 0, 1], 80).into(), &[]);
        let settings = Settings { hosts, body_max: BODY_MAX, rate: 1000, patience: Duration::from_secs(30) };
        Server::new(engine, project, tokens, settings, watch::channel(false).1).unwrap()
    }

    #[test]
    fn a_panic_ends_one_request_with_a_problem_and_no_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            async fn breaks(request: Request<Body>) -> &'static str {
                if request.uri().query() == Some("break") { panic!("it breaks") } else { "well" }
            }
            let server = server();
            // The only path that needs no token.
            let router = server.guarded(Router::new().route("/healthz", get(breaks)));
            let ask = |path: &str| {
                let request = Request::builder().uri(path).header("host", "localhost").body(Body::empty()).unwrap();
                router.clone().oneshot(request)
            };
            let broke = ask("/healthz?break").await.unwrap();
            assert_eq!(
                (broke.status().as_u16(), &broke.headers()["content-type"]),
                (500, &"application/problem+json".parse().unwrap())
            );
            let problem: serde_json::Value =
                serde_json::from_slice(&to_bytes(broke.into_body(), BODY_MAX).await.unwrap()).unwrap();
            assert_eq!((&problem["code"], &problem["status"]), (&"INTERNAL".into(), &500.into()), "{problem}");
            assert!(problem["help"].as_str().unwrap().contains("Idempotency-Key"), "{problem}");
            assert_eq!(ask("/healthz").await.unwrap().status().as_u16(), 200);
            let counted = server.metrics.text(0, 0);
            assert!(counted.contains("status=\"500\"} 1") && counted.contains("requests_in_progress 0"), "{counted}");
        });
    }
}
