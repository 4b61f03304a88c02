//! The server over Streamable HTTP, for another server to mount.

use super::{Caller, Server, Shared};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// How much longer a request may be than the longest document: its other arguments, and what escaping adds.
const AROUND_DOCUMENT: usize = 1 << 20;

/// A tower service for `/mcp`. It keeps no sessions: each request stands for itself, in every revision of the protocol.
///
/// Whoever mounts it finds out who calls and puts a [`Call`](countersign_engine::Call) into the request's extensions; a
/// request without one is refused. `hosts` are the names under which the server may be called, `origins` the pages that may
/// do so: none of them, if the list is empty.
#[cfg_attr(not(test), expect(dead_code, reason = "for the HTTP server to mount"))]
pub fn service(
    shared: Shared,
    hosts: &[String],
    origins: &[String],
) -> StreamableHttpService<Server, NeverSessionManager> {
    let size_max = shared.project.settings.size_max.saturating_add(AROUND_DOCUMENT);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(size_max);
    let server = Server::new(shared, Caller::OfRequest);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
}
