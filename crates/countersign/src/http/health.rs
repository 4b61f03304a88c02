//! Whether the server is there, whether it can work, and what it has done.

use super::problem::Problem;
use super::{Server, State, answer};
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use std::sync::Arc;

pub fn routes() -> Router<Arc<Server>> {
    Router::new().route("/healthz", get(healthz)).route("/readyz", get(readyz)).route("/metrics", get(metrics))
}

async fn healthz() -> Response {
    answer::with_type(r#"{"status":"ok"}"#, "application/json")
}

/// Ready is a server whose ledger answers and has not moved, and that is not about to end.
async fn readyz(server: State) -> Result<Response, Problem> {
    if *server.ending.borrow() {
        return Err(Problem::busy("the server is about to end"));
    }
    let server = Arc::clone(&server);
    let head = tokio::task::spawn_blocking(move || {
        let ledger = server.engine.ledger();
        ledger.must_be_open().and_then(|()| ledger.head())
    });
    match head.await {
        Ok(Ok(head)) => Ok(answer::with_type(format!(r#"{{"status":"ok","head":{}}}"#, head.seq), "application/json")),
        Ok(Err(error)) => Err(Problem::of_ledger(error)),
        Err(_) => Err(Problem::internal()),
    }
}

async fn metrics(server: State) -> Response {
    let streams = super::STREAMS_MAX - server.streams.available_permits();
    let text = server.metrics.text(*server.head.borrow(), streams);
    answer::with_type(text, "text/plain; version=0.0.4; charset=utf-8")
}
