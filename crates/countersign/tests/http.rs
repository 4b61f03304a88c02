//! The HTTP door, through a server in a process of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use countersign_engine::{COMMANDS, VIEWS};
use serde_json::{Value, json};
use server::{Server, owner, project, token};

/// What the document says of an answer: it is of its schema, or of that of its problem.
struct Document(Value);

impl Document {
    fn schema(&self, path: &str, method: &str, status: u16, media: &str) -> Value {
        let responses = &self.0["paths"][path][method]["responses"];
        let mut response = &responses[status.to_string()];
        if let Some(name) = response["$ref"].as_str() {
            response = self.0.pointer(name.strip_prefix('#').unwrap()).unwrap();
        }
        assert!(response.is_object(), "{method} {path}: {status} is not documented");
        let mut schema = response["content"][media]["schema"].clone();
        assert!(schema.is_object(), "{method} {path}: {status} is not {media}");
        schema["components"] = self.0["components"].clone();
        schema
    }

    fn holds(&self, path: &str, method: &str, said: &server::Said) {
        let media = said.header("content-type");
        let schema = self.schema(path, method, said.status, media);
        let validator = jsonschema::validator_for(&schema).unwrap();
        if let Err(error) = validator.validate(&said.json()) {
            panic!("{method} {path}: {error}\n{}", said.body);
        }
    }
}

fn task(id: &str, path: &str) -> Value {
    json!({ "task_id": id, "title": "do it", "lock_scope": [path], "acceptance_criteria": ["it is done"] })
}

#[test]
fn every_command_and_every_view_answers_as_the_document_says() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let document = Document(client.get("/openapi.json").json());
    let walk = |client: &mut server::Client, stage: &str| {
        for row in COMMANDS {
            let path = format!("/v1/commands/{}", row.info.id);
            for body in [(row.example)(), json!({}), json!({ "nonsense": 1 }), json!([])] {
                let said = client.ask(row.info.id, &body);
                assert!(said.status < 500, "{stage}: {path}: {said:?}");
                document.holds(&path, "post", &said);
            }
            let said = client.send("POST", &path, &[], Some("{not json")).unwrap();
            assert_eq!(said.status, 400, "{path}: {said:?}");
            document.holds(&path, "post", &said);
        }
        for row in VIEWS {
            let example = (row.example)();
            let query: Vec<String> = example
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| {
                    format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
                })
                .collect();
            let path = format!("/v1/views/{}", row.info.id);
            for query in [query.join("&"), "nonsense=1".to_owned()] {
                let said = client.get(&format!("{path}?{query}"));
                assert!(said.status < 500, "{stage}: {path}: {said:?}");
                document.holds(&path, "get", &said);
            }
        }
    };
    walk(&mut client, "empty");
    client.ask("run.cancel", &json!({ "reason": "begin anew" }));
    let run =
        client.ask("run.open", &json!({ "objective": "ship it" })).answer()["run_id"].as_str().unwrap().to_owned();
    client.ask("task.add", &json!({ "run_id": run, "tasks": [task("T-1", "src"), task("T-2", "docs")] })).answer();
    client.ask("task.claim", &json!({ "run_id": run, "task_id": "T-1" })).answer();
    walk(&mut client, "under way");
    for (path, id) in [
        ("/v1/runs".to_owned(), "run.list"),
        (format!("/v1/runs/{run}"), "run.show"),
        (format!("/v1/runs/{run}/tasks"), "task.list"),
        (format!("/v1/runs/{run}/tasks/T-1"), "task.show"),
        ("/v1/locks".to_owned(), "lock.list"),
    ] {
        let said = client.get(&path);
        assert_eq!(said.status, 200, "{path}: {said:?}");
        document.holds(&format!("/v1/views/{id}"), "get", &said);
    }
    for path in ["/v1/runs/nothing", &format!("/v1/runs/{run}/tasks/T-99"), "/v1/views/none", "/v1/none"] {
        let said = client.get(path);
        assert_eq!((said.status, said.header("content-type")), (404, "application/problem+json"), "{path}: {said:?}");
    }
    assert_eq!(client.ask("none", &json!({})).status, 404);
    let said = client.send("DELETE", "/v1/runs", &[], None).unwrap();
    assert_eq!((said.status, said.header("allow")), (405, "GET,HEAD"), "{said:?}");
    for path in ["/healthz", "/readyz"] {
        document.holds(path, "get", &client.get(path));
    }
    let metrics = client.get("/metrics").body;
    for wanted in [
        "countersign_requests_total{route=\"/v1/commands/{id}\",method=\"POST\",status=\"200\"}",
        "countersign_commands_total{command=\"task.claim\",code=\"OK\"} 1",
        "countersign_request_seconds_bucket{route=\"/v1/runs\",le=\"+Inf\"}",
        "countersign_event_streams 0",
    ] {
        assert!(metrics.contains(wanted), "{wanted}: {metrics}");
    }
}
