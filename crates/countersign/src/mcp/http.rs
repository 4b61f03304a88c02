//! The server over Streamable HTTP, for another server to mount.

use super::{Caller, Server, Shared};
use crate::project::Project;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// How much longer a request may be than the longest document: its other arguments, and what escaping adds.
const AROUND_DOCUMENT: usize = 1 << 20;

/// How many bytes a request may have.
pub fn request_max(project: &Project) -> usize {
    project.settings.size_max.saturating_add(AROUND_DOCUMENT)
}

/// A tower service for `/mcp`. It keeps no sessions: each request stands for itself, in every revision of the protocol.
///
/// Whoever mounts it finds out who calls and puts a [`Call`](countersign_engine::Call) into the request's extensions; a
/// request without one is refused. `hosts` are the names under which the server may be called, `origins` the pages that may
/// do so: none of them, if the list is empty.
pub fn service(
    shared: Shared,
    hosts: &[String],
    origins: &[String],
) -> StreamableHttpService<Server, NeverSessionManager> {
    let size_max = request_max(&shared.project);
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::mcp::tools::TOOLS;
    use countersign_domain::project::Init;
    use countersign_engine::{Call, Engine};
    use countersign_ledger::{Clock, Memory};
    use serde_json::{Value, json};
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};

    /// A project with a run and a task, in memory.
    fn shared() -> Shared {
        let engine = Engine::create(Box::new(Memory::new(Clock::System)), "p").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find(Some(folder.path()), None).unwrap();
        let shared = Shared::new(Arc::new(engine), Arc::new(project));
        let mut lead = Call::declared("agent:lead");
        lead.roles.push(countersign_domain::deciding::Role::Owner);
        let task = json!({
            "task_id": "T-1", "title": "Round", "lock_scope": ["src"], "acceptance_criteria": ["Totals round to even"],
        });
        for (id, request) in [
            ("project.init", <Init as countersign_contract::Shape>::example()),
            ("run.open", json!({ "objective": "Round money" })),
            ("task.add", json!({ "tasks": [task] })),
        ] {
            shared.ask(&lead, id, &request.to_string()).unwrap();
        }
        shared
    }

    /// Serves as a server of HTTP would that knows its callers by a header.
    fn serve() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let know = |mut request: axum::extract::Request, next: axum::middleware::Next| async move {
                    let actor = request.headers().get("x-actor").and_then(|it| it.to_str().ok()).map(str::to_owned);
                    actor.map(|actor| request.extensions_mut().insert(Call::declared(actor)));
                    next.run(request).await
                };
                let service = service(shared(), &["127.0.0.1".to_owned()], &["http://localhost:3000".to_owned()]);
                let router = axum::Router::new().nest_service("/mcp", service).layer(axum::middleware::from_fn(know));
                axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), router).await.unwrap();
            });
        });
        address
    }

    const HOST: &str = "host: 127.0.0.1\r\n";

    /// The status of an answer, and its message.
    fn post(address: SocketAddr, headers: &str, message: &Value) -> (u16, Value) {
        let body = message.to_string();
        let head = "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\nconnection: close";
        let request = format!("POST /mcp HTTP/1.1\r\n{headers}{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("mcp-session-id"), "{head}");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, serde_json::from_str(body).unwrap_or_else(|_| json!(body)))
    }

    fn old(method: &str, params: Value) -> (String, Value) {
        let headers = format!("{HOST}x-actor: agent:w1\r\nmcp-protocol-version: 2025-11-25\r\n");
        (headers, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    fn new(method: &str, mut params: Value) -> (String, Value) {
        let name = params["name"].as_str().map(|name| format!("mcp-name: {name}\r\n")).unwrap_or_default();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers =
            format!("{HOST}x-actor: agent:w2\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}");
        (headers, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    #[test]
    fn both_revisions_are_served_without_a_session_and_each_request_for_its_caller() {
        let address = serve();
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "by hand", "version": "1" },
        });
        let (headers, message) = old("initialize", hello);
        let (status, answer) = post(address, &headers, &message);
        assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!("2025-11-25")), "{answer}");
        let (headers, message) = new("server/discover", json!({}));
        let (status, answer) = post(address, &headers, &message);
        let versions = answer["result"]["supportedVersions"].as_array().unwrap();
        assert!(status == 200 && versions.contains(&json!("2026-07-28")), "{answer}");
        for (headers, message) in [old("tools/list", json!({})), new("tools/list", json!({}))] {
            let (status, answer) = post(address, &headers, &message);
            assert_eq!(
                (status, answer["result"]["tools"].as_array().map(Vec::len)),
                (200, Some(TOOLS.len())),
                "{answer}"
            );
        }
        let claim = json!({ "name": "claim", "arguments": { "task_id": "T-1" } });
        let (headers, message) = old("tools/call", claim.clone());
        let (_, answer) = post(address, &headers, &message);
        assert_eq!(answer["result"]["structuredContent"]["answer"]["owner"], "agent:w1", "{answer}");
        let (headers, message) = new("tools/call", claim);
        let (status, answer) = post(address, &headers, &message);
        assert_eq!((status, &answer["result"]["isError"]), (200, &json!(true)), "{answer}");
        let reason = answer["result"]["structuredContent"]["reason"].as_str().unwrap();
        assert!(reason.contains("held by agent:w1"), "{reason}");
    }

    #[test]
    fn who_is_not_known_and_what_comes_from_elsewhere_is_refused() {
        let address = serve();
        let call = json!({ "name": "next", "arguments": {} });
        let (headers, message) = old("tools/call", call);
        let (_, answer) = post(address, &headers.replace("x-actor: agent:w1\r\n", ""), &message);
        assert!(answer["error"]["message"].as_str().unwrap().contains("not known who calls"), "{answer}");
        for wrong in [
            headers.replace(HOST, "host: evil.example\r\n"),
            format!("{headers}origin: http://evil.example\r\n"),
            format!("{headers}origin: null\r\n"),
        ] {
            assert_eq!(post(address, &wrong, &message).0, 403, "{wrong}");
        }
        let fine = format!("{headers}origin: http://localhost:3000\r\n");
        assert_eq!(post(address, &fine, &message).0, 200);
    }
}
