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

/// A run with so many tasks, each with a file of its own.
fn run_with(client: &mut server::Client, tasks: usize) -> String {
    let run =
        client.ask("run.open", &json!({ "objective": "ship it" })).answer()["run_id"].as_str().unwrap().to_owned();
    let tasks: Vec<Value> = (1..=tasks).map(|n| task(&format!("T-{n}"), &format!("src/{n}.rs"))).collect();
    client.ask("task.add", &json!({ "run_id": run, "tasks": tasks })).answer();
    run
}

/// A result that passes every check of a task that `run_with` made.
fn result(run: &str, task: &str) -> Value {
    let number = task.strip_prefix("T-").unwrap();
    house::document(
        "subagent_result",
        json!({
            "run_id": run, "task_id": task, "worklog_path": format!("worklogs/{task}.jsonl"),
            "changes": [{ "resource": format!("src/{number}.rs"), "action": "edit", "evidence": "it is there" }],
            "acceptance_check": [{ "criterion": "it is done", "status": "pass", "evidence": "seen" }],
        }),
    )
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
}

#[test]
fn events_are_followed_and_taken_up_again_without_gap_or_double() {
    let house = project();
    let mut server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let one = run_with(&mut client, 1);
    let mut events = client.listen("/v1/events", &[]);
    let first: Vec<(u64, String, Value)> = events.by_ref().take(3).collect();
    assert_eq!(first.iter().map(|it| it.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(
        first.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(),
        ["project.initialised", "run.opened", "task.added"]
    );
    assert_eq!(first[2].2["facts"]["task"], "T-1");
    // What is recorded now comes to whoever listens.
    let two = run_with(&mut client, 2);
    assert_eq!(events.by_ref().take(3).map(|it| it.0).collect::<Vec<_>>(), [4, 5, 6]);
    drop(events);
    // What was recorded meanwhile comes to whoever comes back, by another process too.
    let added = json!({ "run_id": two, "tasks": [task("T-9", "docs")] });
    client.ask("task.add", &added).answer();
    let resumed = client.listen("/v1/events?since=1", &[("last-event-id", "5")]);
    assert_eq!(resumed.take(2).map(|it| it.0).collect::<Vec<_>>(), [6, 7]);
    let since = client.listen("/v1/events?since=4", &[]);
    assert_eq!(since.take(4).map(|it| it.0).collect::<Vec<_>>(), [4, 5, 6, 7]);
    let of_run = client.listen(&format!("/v1/events?run={one}"), &[]);
    let mut of_run = of_run.inspect(|it| assert_eq!(it.2["run"], one.as_str()));
    assert_eq!(of_run.by_ref().take(2).map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
    house.document("a.json", "assignment", json!({}));
    let mut live = client.listen("/v1/events?since=8", &[]);
    assert_eq!(house.run(&["record", "a.json"]).code, 0);
    assert_eq!(live.next().unwrap().1, "record.kept");
    for query in ["since=x", "run=x", "since=1&since=2", "other=1"] {
        assert_eq!(client.get(&format!("/v1/events?{query}")).status, 422, "{query}");
    }
    // Listening ends with the server, and the server with those that listen.
    server.signal("TERM");
    assert_eq!(live.next(), None);
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn who_may_do_what_is_told_by_the_token_alone() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut owner = server.client(&owner(&house));
    let run = run_with(&mut owner, 2);
    let auditor = token(&house, "user:eve", "auditor", None);
    let agent = token(&house, "agent:a", "agent", None);
    let bound = token(&house, "agent:b", "agent", Some((&run, "T-2")));
    let elsewhere = token(&house, "agent:c", "agent", Some(("11111111-2222-4333-8444-555555555555", "T-2")));
    let claim = |task: &str| json!({ "run_id": run, "task_id": task });
    let open = json!({ "objective": "more" });
    let (t1, t2) = (claim("T-1"), claim("T-2"));
    let any = json!({ "run_id": run });
    let cases: &[(&str, &str, &Value, u16, &str)] = &[
        ("", "task.claim", &t1, 401, "UNAUTHENTICATED"),
        ("cst_000000000000_wrong", "task.claim", &t1, 401, "UNAUTHENTICATED"),
        (&auditor, "task.claim", &t1, 403, "AUTHORIZATION_MISSING"),
        (&agent, "run.open", &open, 403, "AUTHORIZATION_MISSING"),
        (&bound, "task.claim", &t1, 403, "AUTHORIZATION_MISSING"),
        (&bound, "task.claim", &any, 403, "AUTHORIZATION_MISSING"),
        (&elsewhere, "task.claim", &t2, 403, "AUTHORIZATION_MISSING"),
        (&agent, "task.claim", &t1, 200, "OK"),
        (&bound, "task.claim", &t1, 403, "AUTHORIZATION_MISSING"),
        (&bound, "task.claim", &t2, 200, "OK"),
    ];
    for (shown, command, request, status, code) in cases {
        let said = server.client(shown).ask(command, request);
        assert_eq!((said.status, said.json()["code"].as_str()), (*status, Some(*code)), "{shown} {command}: {said:?}");
    }
    for path in ["/", "/v1/runs", "/v1/events", "/readyz", "/metrics", "/openapi.json", "/none", "/healthz/"] {
        let said = server.client("").send("GET", path, &[("authorization", "")], None).unwrap();
        assert_eq!(said.status, 401, "{path}");
        assert!(said.header("www-authenticate").starts_with("Bearer"), "{path}");
        for wrong in ["Basic YTpi", "Bearer", "Bearer  ", "Token x"] {
            assert_eq!(server.client("").send("GET", path, &[("authorization", wrong)], None).unwrap().status, 401);
        }
    }
    assert_eq!(server.client("").send("POST", "/healthz", &[("authorization", "")], None).unwrap().status, 401);
    assert_eq!(server.client("").send("GET", "/healthz", &[("authorization", "")], None).unwrap().status, 200);
    assert_eq!(server.client(&auditor).get("/v1/runs").status, 200);
    let seen = server.client(&agent).get(&format!("/v1/runs/{run}/tasks/T-1")).json();
    assert_eq!(seen["task"]["owner"], "agent:a", "the token says who asks");
    // What was taken back, has ended, or is of no known role, is no token.
    let gone = [json!({ "expires": "2026-01-02T00:00:00Z" }), json!({ "expires": "soon" }), json!({ "role": "king" })];
    for change in gone {
        let shown = token(&house, "agent:d", "agent", None);
        assert_eq!(server.client(&shown).get("/v1/runs").status, 200);
        let path = house
            .all()
            .into_iter()
            .find(|(path, _)| {
                path.to_string_lossy().contains("tokens/") && path.extension().is_some_and(|it| it == "json")
            })
            .unwrap();
        let mut all: Vec<Value> = serde_json::from_slice(&path.1).unwrap();
        countersign_contract::prove::merge(all.last_mut().unwrap(), &change);
        server::write_tokens(&house, &all);
        assert_eq!(server.client(&shown).get("/v1/runs").status, 401, "{change}");
        all.pop();
        server::write_tokens(&house, &all);
        assert_eq!(server.client(&shown).get("/v1/runs").status, 401);
    }
}

#[test]
fn a_page_elsewhere_is_not_let_in() {
    let house = project();
    let server = Server::start(&house, &["--allow-host", "Agents.example"]);
    let shown = owner(&house);
    let port = server.address.rsplit(':').next().unwrap();
    let own = format!("http://127.0.0.1:{port}");
    let (local, named) = (format!("localhost:{port}"), format!("agents.example:{port}"));
    let local_origin = format!("http://localhost:{port}");
    let cases: &[(&str, &str, u16)] = &[
        (&server.address, "", 200),
        (&server.address, &own, 200),
        (&local, "", 200),
        (&named, "", 200),
        ("agents.example", "", 200),
        (&server.address, &local_origin, 403),
        (&server.address, "null", 403),
        (&server.address, "https://evil.example", 403),
        ("evil.example", "", 403),
        ("evil.example", "http://evil.example", 403),
        ("127.0.0.1.evil.example", "", 403),
        ("a b", "", 403),
    ];
    for (host, origin, status) in cases {
        for path in ["/healthz", "/v1/runs"] {
            let headers = [("host", *host), ("origin", *origin)];
            let said = server.client(&shown).send("GET", path, &headers, None).unwrap();
            assert_eq!(said.status, *status, "{host} {origin} {path}: {said:?}");
        }
    }
    let twice = [("host", server.address.as_str()), ("host", "evil.example")];
    assert_eq!(server.client(&shown).send("GET", "/healthz", &twice, None).unwrap().status, 403);
}

#[test]
fn what_is_too_much_or_too_slow_is_refused() {
    use std::io::{BufReader, Write};
    let house = project();
    let server = Server::start(&house, &["--max-body", "1000", "--patience", "1"]);
    let shown = owner(&house);
    let long = json!({ "objective": "x".repeat(2000) }).to_string();
    let said = server.client(&shown).send("POST", "/v1/commands/run.open", &[], Some(&long)).unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (413, Some("BODY_TOO_LARGE")));
    let text =
        server.client(&shown).send("POST", "/v1/commands/run.open", &[("content-type", "text/plain")], Some("{}"));
    assert_eq!(text.unwrap().status, 415);
    let raw = |request: &str| {
        let stream = std::net::TcpStream::connect(&server.address).unwrap();
        let mut line = BufReader::new(stream);
        line.get_mut().write_all(request.as_bytes()).unwrap();
        server::read(&mut line, "POST")
    };
    let head = format!(
        "POST /v1/commands/run.open HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {shown}\r\ncontent-type: application/json\r\n",
        server.address
    );
    // A body without a length that goes on and on.
    let said = raw(&format!("{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n", long.len())).unwrap();
    assert_eq!(said.status, 413, "{said:?}");
    // A body that does not come.
    let said = raw(&format!("{head}content-length: 100\r\n\r\n{{")).unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (408, Some("TOO_SLOW")));
    // A head that does not come, or never ends: the connection is closed.
    assert!(raw("POST /v1").is_err());
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    assert_eq!(raw(&format!("{head}{many}\r\n")).unwrap().status, 431);
    assert_eq!(server.client(&shown).get("/v1/runs").json()["runs"], json!([]), "nothing of that was done");
}

#[test]
fn one_token_cannot_take_all_the_time() {
    let house = project();
    let server = Server::start(&house, &["--rate", "1"]);
    let mut greedy = server.client(&owner(&house));
    let statuses: Vec<u16> = (0..20).map(|_| greedy.get("/v1/runs").status).collect();
    assert!(statuses.contains(&429), "{statuses:?}");
    let other = token(&house, "agent:a", "agent", None);
    assert_eq!(server.client(&other).get("/v1/runs").status, 200);
}

#[test]
fn a_server_that_ends_answers_what_it_accepted() {
    let house = project();
    let mut server = Server::start(&house, &[]);
    let shown = owner(&house);
    run_with(&mut server.client(&shown), 1);
    // Held by hand, the ledger makes them all wait.
    let sql = rusqlite::Connection::open(house.path(".countersign/ledger.db")).unwrap();
    sql.execute_batch("BEGIN IMMEDIATE").unwrap();
    let clients: Vec<_> = (0..8)
        .map(|n| {
            let mut client = server.client(&shown);
            std::thread::spawn(move || client.ask("run.open", &json!({ "objective": format!("number {n}") })).status)
        })
        .collect();
    let mut watcher = server.client(&shown);
    // All of them are inside when the server says so.
    let waiting = || {
        let metrics = watcher.get("/metrics").body;
        metrics.lines().any(|line| line == "countersign_requests_in_progress 9")
    };
    wait_until(waiting);
    server.signal("TERM");
    wait_until(|| std::net::TcpStream::connect(&server.address).is_err());
    sql.execute_batch("ROLLBACK").unwrap();
    for client in clients {
        assert_eq!(client.join().unwrap(), 200);
    }
    assert_eq!(server.ended(), Some(0));
    let runs = house.run(&["log"]).out.lines().filter(|line| line.contains("run.opened")).count();
    assert_eq!(runs, 9);
}

/// Looks until something is so. A test that waits in vain is given up.
fn wait_until(mut so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !so() {
        assert!(std::time::Instant::now() < end, "it was waited for in vain");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn a_server_that_is_killed_under_load_loses_doubles_and_sticks_nothing() {
    const WORKERS: usize = 16;
    const TASKS: usize = 96;
    let house = project();
    let mut server = Server::start(&house, &[]);
    let shown = owner(&house);
    let run = run_with(&mut server.client(&shown), TASKS);
    let address = std::sync::Arc::new(std::sync::RwLock::new(server.address.clone()));
    let done = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let workers: Vec<_> = (0..WORKERS)
        .map(|n| {
            let shown = token(&house, &format!("agent:{n}"), "agent", None);
            let (address, done, run) = (address.clone(), done.clone(), run.clone());
            std::thread::spawn(move || work(n, &shown, &address, &done, &run))
        })
        .collect();
    for round in 1..=3 {
        wait_until(|| done.load(std::sync::atomic::Ordering::SeqCst) >= round * TASKS / 5);
        server.signal("KILL");
        server.ended();
        server = Server::start(&house, &[]);
        address.write().unwrap().clone_from(&server.address);
    }
    let mut all: Vec<String> = workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    all.sort();
    all.dedup();
    assert_eq!(
        (all.len(), done.load(std::sync::atomic::Ordering::SeqCst)),
        (TASKS, TASKS),
        "each was done by one worker"
    );
    let tasks = server.client(&shown).get(&format!("/v1/runs/{run}/tasks?limit=1000")).json();
    assert!(tasks["tasks"].as_array().unwrap().iter().all(|task| task["status"] == "done" && task["attempt"] == 1));
    let log = house.run(&["log"]).out;
    for kind in ["task.claimed", "task.completed", "result.submitted"] {
        assert_eq!(log.lines().filter(|line| line.contains(kind)).count(), TASKS, "{kind}");
    }
    let verified = house.run(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// Claims and brings results until nothing is left. What was not answered is asked again, with the same key.
fn work(
    n: usize,
    shown: &str,
    address: &std::sync::RwLock<String>,
    done: &std::sync::atomic::AtomicUsize,
    run: &str,
) -> Vec<String> {
    let mut client = server::Client::to(&address.read().unwrap(), shown);
    let mut calls = 0;
    let mut ask = |command: &str, request: &Value| {
        calls += 1;
        let key = format!("{n}-{calls}");
        loop {
            match client.ask_once(command, &key, request) {
                Ok(said) if said.status == 503 => {}
                Ok(said) => return said,
                Err(_) => {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    client = server::Client::to(&address.read().unwrap(), shown);
                }
            }
        }
    };
    let mut own = Vec::new();
    loop {
        let said = ask("task.claim", &json!({ "run_id": run }));
        if said.status == 409 {
            assert_eq!(said.json()["code"], "DEPENDENCY_NOT_MET", "{said:?}");
            return own;
        }
        let claimed = said.answer();
        let (task, lease) = (claimed["task_id"].as_str().unwrap(), &claimed["lease"]);
        ask("task.heartbeat", &json!({ "run_id": run, "task_id": task, "lease": lease })).answer();
        let request = json!({ "run_id": run, "task_id": task, "lease": lease, "result": result(run, task) });
        assert_eq!(ask("task.submit", &request).answer()["status"], "done");
        done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        own.push(task.to_owned());
    }
}

#[test]
fn two_servers_and_the_command_line_write_one_file() {
    let house = project();
    let servers = [Server::start(&house, &[]), Server::start(&house, &[])];
    let shown = owner(&house);
    let run = run_with(&mut servers[0].client(&shown), 40);
    house.document("a.json", "assignment", json!({}));
    let winners: Vec<usize> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let shown = token(&house, &format!("agent:{n}"), "agent", None);
                let mut client = servers[n % 2].client(&shown);
                let run = &run;
                scope.spawn(move || {
                    let claim =
                        |task| client.ask("task.claim", &json!({ "run_id": run, "task_id": format!("T-{task}") }));
                    (1..=40).map(claim).filter(|said| said.status == 200).count()
                })
            })
            .collect();
        for _ in 0..5 {
            assert_eq!(house.run(&["record", "a.json"]).code, 0);
        }
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    assert_eq!(winners.iter().sum::<usize>(), 40, "of all who claimed a task, one got it: {winners:?}");
    let verified = house.run(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
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

#[test]
fn the_command_line_asks_a_server_that_is_named_and_says_the_same() {
    let house = project();
    let server = Server::start(&house, &[]);
    let (url, shown) = (format!("http://{}", server.address), owner(&house));
    // Somebody elsewhere, who has no ledger and no keys of the project.
    let elsewhere = house::House::new();
    elsewhere.document("a.json", "assignment", json!({})).write("bad.json", r#"{"packet_type":"assignment"}"#);
    let env = [("COUNTERSIGN_TOKEN", shown.as_str())];
    let run = |arguments: &[&str], env: &[(&str, &str)]| elsewhere.run_with(arguments, "", env);
    let remote = |arguments: &[&str]| run(&[arguments, &["--server", &url]].concat(), &env);
    let kept = remote(&["record", "a.json", "--key", "k", "--format", "json"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    assert_eq!(remote(&["record", "a.json", "--key", "k", "--format", "json"]).out, kept.out, "it is done once");
    let event: Value = serde_json::from_str(&kept.out).unwrap();
    let here = house.run(&["log", "--since", "2", "--format", "json"]);
    let stored: Value = serde_json::from_str(&here.out).unwrap();
    assert_eq!(stored["event"], event, "what is shown is what was stored");
    let refused = remote(&["record", "bad.json"]);
    assert!(refused.code == 1 && refused.err.contains("MISSING_REQUIRED_INPUT"), "{refused:?}");
    for verb in [&["verify"][..], &["log"], &["export"]] {
        let answer = remote(verb);
        assert!(answer.code == 3 && answer.err.contains("needs the ledger itself"), "{verb:?}: {answer:?}");
    }
    let without = run(&["record", "a.json", "--server", &url], &[]);
    assert!(without.code == 3 && without.err.contains("wants a token"), "{without:?}");
    let wrong = run(&["record", "a.json", "--server", &url], &[("COUNTERSIGN_TOKEN", "cst_x")]);
    assert!(wrong.code == 3 && wrong.err.contains("the token is none of this project's"), "{wrong:?}");
    let clear = run(&["record", "a.json", "--server", "http://agents.example"], &env);
    assert!(clear.code == 3 && clear.err.contains("in the clear"), "{clear:?}");
    for address in ["agents.example", "ftp://agents.example", "https://", "https://a b"] {
        let answer = run(&["record", "a.json", "--server", address], &env);
        assert!(answer.code == 3 && answer.err.contains("is no address of a server"), "{address}: {answer:?}");
    }
    elsewhere.write(".countersign/config.toml", "[server]\nurl = \"http://agents.example\"\n");
    let named = run(&["record", "a.json"], &env);
    assert!(
        named.code == 3 && named.err.contains("has not named before"),
        "what was refused is not trusted: {named:?}"
    );
    // The settings may name a server that this user has named before, and no other.
    elsewhere.write(".countersign/config.toml", format!("[server]\nurl = \"{url}\"\n"));
    assert_eq!(run(&["record", "a.json"], &env).code, 0);
    elsewhere.write(".countersign/config.toml", "[server]\nurl = \"http://127.0.0.1:1\"\n");
    let other = run(&["record", "a.json"], &env);
    assert!(other.code == 3 && other.err.contains("has not named before"), "{other:?}");
    drop(server);
    let gone = remote(&["record", "a.json"]);
    assert!(gone.code == 3 && gone.err.contains("did not answer"), "{gone:?}");
}
