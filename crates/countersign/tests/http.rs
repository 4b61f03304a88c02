//! The HTTP door, through a server in a process of its own: what is answered is what the document says.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use countersign_engine::{COMMANDS, VIEWS};
use serde_json::{Value, json};
use server::work::{run_with, task};
use server::{Server, owner, project};

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

#[test]
fn every_command_and_every_view_answers_as_the_document_says() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let document = Document(client.get("/openapi.json").json());
    let operations =
        document.0["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let mut ids: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every operation has an id of its own");
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
    let promise = client.ask("promise.create", &json!({ "title": "t", "criteria": [{ "description": "it holds" }] }));
    let promise = promise.answer()["promise"].as_str().unwrap().to_owned();
    walk(&mut client, "under way");
    for (path, id) in [
        ("/v1/runs".to_owned(), "run.list"),
        (format!("/v1/runs/{run}"), "run.show"),
        (format!("/v1/runs/{run}/tasks"), "task.list"),
        (format!("/v1/runs/{run}/tasks/T-1"), "task.show"),
        ("/v1/locks".to_owned(), "lock.list"),
        ("/v1/promises".to_owned(), "promise.list"),
        (format!("/v1/promises/{promise}"), "promise.show"),
        (format!("/v1/promises/{promise}/gates"), "gate.status"),
        ("/v1/inbox".to_owned(), "inbox.list"),
        (format!("/v1/runs/{run}/effects"), "effect.list"),
    ] {
        let said = client.get(&path);
        assert_eq!(said.status, 200, "{path}: {said:?}");
        document.holds(&format!("/v1/views/{id}"), "get", &said);
    }
    for path in [
        "/v1/runs/11111111-2222-4333-8444-555555555555",
        &format!("/v1/runs/{run}/tasks/T-99"),
        &format!("/v1/runs/{run}/plan"),
        "/v1/promises/promise-00000000",
        "/v1/views/none",
        "/v1/none",
    ] {
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

#[test]
fn a_key_makes_a_repetition_the_same_call() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let open = json!({ "objective": "ship it" });
    let first = client.ask_once("run.open", "k1", &open).unwrap().json();
    let again = client.ask_once("run.open", "k1", &json!({ "objective": "ship it" })).unwrap().json();
    assert_eq!((&first["repeated"], &again["repeated"]), (&json!(false), &json!(true)));
    assert_eq!((&first["answer"], &first["events"]), (&again["answer"], &again["events"]));
    let other = client.ask_once("run.open", "k1", &json!({ "objective": "another" })).unwrap();
    assert_eq!((other.status, other.json()["code"].as_str()), (409, Some("CONCURRENCY_CONFLICT")), "{other:?}");
    assert_eq!(client.ask_once("run.open", &"k".repeat(600), &open).unwrap().status, 400);
    assert_eq!(client.get("/v1/runs").json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_caller_has_already_is_not_sent_again() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let first = client.get("/v1/runs");
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.len() == 34, "{tag}");
    for known in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
        let said = client.send("GET", "/v1/runs", &[("if-none-match", &known)], None).unwrap();
        assert_eq!((said.status, said.body.as_str(), said.header("etag")), (304, "", tag.as_str()), "{known}");
    }
    run_with(&mut client, 1);
    let changed = client.send("GET", "/v1/runs", &[("if-none-match", &tag)], None).unwrap();
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), tag);
}

#[test]
fn a_bundle_is_the_same_while_its_run_stands_as_it_did() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let run = run_with(&mut client, 1);
    let path = format!("/v1/runs/{run}/bundle");
    let first = client.get(&path);
    let tag = first.header("etag").to_owned();
    assert!(tag.starts_with("W/\"") && tag.len() == 36, "{tag}");
    // It is written down at another time, and says the same.
    let again = client.get(&path);
    assert_ne!(first.json()["bundle"]["generated_at"], again.json()["bundle"]["generated_at"]);
    assert_eq!(again.header("etag"), tag);
    let known = client.send("GET", &path, &[("if-none-match", &tag)], None).unwrap();
    assert_eq!((known.status, known.header("etag")), (304, tag.as_str()));
    client.ask("task.claim", &json!({ "run_id": run, "task_id": "T-1" })).answer();
    let changed = client.send("GET", &path, &[("if-none-match", &tag)], None).unwrap();
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_ne!(changed.header("etag"), tag);
}

#[test]
fn lists_go_on_where_they_stopped() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let run = run_with(&mut client, 5);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("/v1/runs/{run}/tasks?limit=2{cursor}")).json();
        seen.extend(page["tasks"].as_array().unwrap().iter().map(|it| it["task_id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen, ["T-1", "T-2", "T-3", "T-4", "T-5"]);
    assert_eq!(client.get(&format!("/v1/runs/{run}/tasks?cursor=xyz")).status, 422);
    assert_eq!(client.get(&format!("/v1/runs/{run}/tasks?limit=1&limit=2")).status, 422);
    for limit in ["abc", "", "\"2\"", "1e400x"] {
        let said = client.get(&format!("/v1/runs/{run}/tasks?limit={}", limit.replace('"', "%22")));
        let problem = said.json();
        assert_eq!((said.status, problem["code"].as_str()), (422, Some("SCHEMA_INVALID")), "{limit}: {problem}");
        assert!(problem["help"].as_str().unwrap().contains("`?limit=10`"), "{limit}: {problem}");
        assert_eq!(problem["findings"][0]["pointer"], "/limit", "{limit}: {problem}");
    }
    let many: Vec<Value> = (0..1001).map(|n| task(&format!("T-{}", 1000 + n), &format!("many/{n}"))).collect();
    let said = client.ask("task.add", &json!({ "run_id": run, "tasks": many }));
    assert_eq!(said.status, 422, "{said:?}");
    let help = said.json()["findings"][0]["help"].as_str().unwrap().to_owned();
    assert!(help.contains("1000 at a time"), "{help}");
}

/// Where `cargo xtask test` puts it.
fn schemathesis() -> std::path::PathBuf {
    let target = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    target.join("schemathesis/bin/schemathesis")
}

#[test]
fn schemathesis_finds_no_server_error_and_no_undocumented_answer() {
    let program = schemathesis();
    assert!(program.exists(), "{} is missing; `cargo xtask test` installs it from PyPI", program.display());
    let house = project();
    let server = Server::start(&house, &[]);
    let shown = owner(&house);
    run_with(&mut server.client(&shown), 3);
    let checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,\
                  response_headers_conformance,negative_data_rejection,unsupported_method,ignored_auth";
    let output = std::process::Command::new(program)
        .args(["run", &format!("http://{}/openapi.json", server.address)])
        .args(["-H", &format!("Authorization: Bearer {shown}")])
        // Events never end; and what is under /v1/views is under other paths too.
        .args(["--exclude-path", "/v1/events", "--exclude-path-regex", "^/v1/views/"])
        .args(["--checks", checks, "--phases", "examples,coverage", "--max-examples", "4"])
        .args(["--seed", "20260207", "--generation-deterministic"])
        .args(["--workers", "1", "--no-color", "--continue-on-failure", "--warnings", "off"])
        .current_dir(house.path(""))
        .env("NO_PROXY", "*")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let verified = house.run(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}
