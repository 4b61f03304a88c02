//! `/mcp`: the server of the Model Context Protocol, behind the limits that every route has. What cannot be read is answered as
//! that protocol says it; what this door refuses is a problem, as everywhere.

use super::problem::{self, Problem, code};
use super::{Server, State, commands};
use crate::mcp;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use countersign_diagnostic::visible_json;
use serde::de::IgnoredAny;
use serde_json::json;
use std::sync::Arc;

/// What JSON-RPC calls a text that is no JSON, and JSON that is no request.
const NO_JSON: i64 = -32700;
const NO_REQUEST: i64 = -32600;

/// The route. Agents' clients find who asks where every route does: among the request's extensions, where the gate puts it.
pub fn routes(server: &Arc<Server>) -> Router {
    let shared = mcp::Shared::new(Arc::clone(&server.engine), Arc::clone(&server.project));
    let service = mcp::service(shared, server.settings.hosts.names(), &[]);
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(Arc::clone(server), pass))
}

async fn pass(server: State, request: Request, next: Next) -> Result<Response, Problem> {
    if request.method() != Method::POST {
        return Ok(in_form(next.run(request).await).await);
    }
    let (parts, body) = request.into_parts();
    commands::must_be_json(&parts.headers)?;
    let max = mcp::request_max(&server.project);
    // All of it is there before anybody works on it, so that whoever sends nothing holds nothing up.
    let text = commands::read(&server, max, &parts.headers, body).await?;
    if let Err(error) = serde_json::from_str::<IgnoredAny>(&text) {
        return Ok(unread(NO_JSON, &format!("this is no JSON: {error}")));
    }
    let permit = Arc::clone(&server.at_once).try_acquire_owned();
    let permit = permit.map_err(|_| Problem::busy("too many requests are worked on"))?;
    // It goes on even if the caller goes away, and holds its place until then.
    let work = tokio::spawn(async move {
        let _permit = permit;
        in_form(next.run(Request::from_parts(parts, Body::from(text))).await).await
    });
    work.await.map_err(|_| Problem::internal())
}

/// An answer in which what was not taken at all is said as this server says it.
async fn in_form(answer: Response) -> Response {
    match answer.status() {
        StatusCode::METHOD_NOT_ALLOWED => {
            let allow = answer.headers().get(ALLOW).cloned();
            let mut problem = problem::no_method().await.into_response();
            problem.headers_mut().extend(allow.map(|allow| (ALLOW, allow)));
            problem
        }
        StatusCode::NOT_ACCEPTABLE => {
            let (why, help) =
                ("no form is accepted that answers have", "accept application/json and text/event-stream");
            Problem::new(StatusCode::NOT_ACCEPTABLE, code::MEDIA_TYPE_UNSUPPORTED, why, help).into_response()
        }
        // Of which type it is was looked at before.
        StatusCode::UNSUPPORTED_MEDIA_TYPE => unread(NO_REQUEST, "this is no request of JSON-RPC 2.0"),
        _ => answer,
    }
}

/// An error of the protocol, about a request whose id is not known.
fn unread(code: i64, why: &str) -> Response {
    let error = json!({ "jsonrpc": "2.0", "error": { "code": code, "message": why } });
    let body = visible_json(&error.to_string()).into_owned();
    (StatusCode::BAD_REQUEST, [(CONTENT_TYPE, "application/json")], body).into_response()
}
