//! The HTTP door when things go wrong: callers that are slow, a ledger that is busy, a server that ends or is killed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use serde_json::{Value, json};
use server::work::{listening, result, run_with, served, wait_until};
use server::{Server, owner, project, token};

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
    for (name, value, status) in [
        ("content-encoding", "gzip", 415),
        ("content-encoding", "br, identity", 415),
        ("content-encoding", "Identity", 422),
        ("content-type", "application/json; charset=utf-16", 415),
        ("content-encoding", "", 422),
        ("content-type", "application/json; charset=\"UTF-8\"", 422),
        ("content-type", "application/json;charset=utf8", 422),
    ] {
        let said = server.client(&shown).send("POST", "/v1/commands/run.open", &[(name, value)], Some("{}")).unwrap();
        let code = if status == 415 { "MEDIA_TYPE_UNSUPPORTED" } else { "MISSING_REQUIRED_INPUT" };
        assert_eq!((said.status, said.json()["code"].as_str()), (status, Some(code)), "{name}: {value}: {said:?}");
    }
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
    // Agents' clients are held to the same.
    let agents = head.replace("/v1/commands/run.open", "/mcp");
    let said = raw(&format!("{agents}content-length: 100\r\n\r\n{{")).unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (408, Some("TOO_SLOW")));
    // A head that does not come, or never ends: the connection is closed.
    assert!(raw("POST /v1").is_err());
    let many: String = (0..200).map(|n| format!("x-{n}: y\r\n")).collect();
    let bad_line = head.replacen("POST", "P@ST", 1);
    for (request, status, code) in [
        (format!("{head}{many}\r\n"), 431, "HEADERS_TOO_LARGE"),
        (format!("{head}no header\r\n\r\n"), 400, "SCHEMA_INVALID"),
        (format!("{bad_line}\r\n"), 400, "SCHEMA_INVALID"),
    ] {
        let said = raw(&request).unwrap();
        assert_eq!((said.status, said.header("content-type")), (status, "application/problem+json"), "{said:?}");
        assert_eq!((said.header("connection"), said.json()["code"].as_str()), ("close", Some(code)), "{said:?}");
        assert!(!said.json()["help"].as_str().unwrap().is_empty(), "{said:?}");
    }
    // As long as a head may be, and longer than that by one.
    let filled = |length: usize| {
        let rest = "content-length: 2\r\nx-long: ";
        let long = "y".repeat(length - head.len() - rest.len() - 4);
        raw(&format!("{head}{rest}{long}\r\n\r\n{{}}")).unwrap().status
    };
    assert_eq!((filled(64 * 1024), filled(64 * 1024 + 1)), (422, 431));
    assert_eq!(server.client(&shown).get("/v1/runs").json()["runs"], json!([]), "nothing of that was done");
}

#[test]
fn what_agents_clients_send_and_nobody_can_read_is_told_in_a_form_that_they_know() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    let both = ("accept", "application/json, text/event-stream");
    for (body, code) in [("{", -32700), ("\u{1b}", -32700), ("[]", -32600), ("{}", -32600)] {
        let said = client.send("POST", "/mcp", &[both], Some(body)).unwrap();
        assert_eq!((said.status, said.json()["error"]["code"].as_i64()), (400, Some(code)), "{body}: {said:?}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for (method, headers, body, status, code) in [
        ("GET", &[both][..], None, 405, "METHOD_NOT_ALLOWED"),
        ("POST", &[both, ("content-type", "text/plain")], Some(ping.as_str()), 415, "MEDIA_TYPE_UNSUPPORTED"),
        ("POST", &[("accept", "text/html")], Some(ping.as_str()), 406, "MEDIA_TYPE_UNSUPPORTED"),
    ] {
        let said = client.send(method, "/mcp", headers, body).unwrap();
        assert_eq!((said.status, said.json()["code"].as_str()), (status, Some(code)), "{method} {headers:?}: {said:?}");
    }
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

/// As many as are worked on at once.
const AT_ONCE: usize = 512;

#[test]
fn what_callers_have_gone_away_from_holds_its_place_and_is_done_before_the_end() {
    use std::io::Write;
    let house = project();
    let mut server = Server::start(&house, &[]);
    let shown = owner(&house);
    let run = run_with(&mut server.client(&shown), 1);
    let sql = rusqlite::Connection::open(house.path(".countersign/ledger.db")).unwrap();
    sql.execute_batch("BEGIN IMMEDIATE").unwrap();
    let request = |path: &str, body: &Value| {
        let body = body.to_string();
        format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {shown}\r\naccept: application/json, text/event-stream\r\n\
             content-type: application/json\r\nmcp-protocol-version: 2025-11-25\r\ncontent-length: {}\r\n\r\n{body}",
            server.address,
            body.len()
        )
    };
    let open = request("/v1/commands/run.open", &json!({ "objective": "go on" }));
    // An agent's client has a place among them, and no other than they have.
    let params = json!({ "name": "claim", "arguments": { "run_id": run, "task_id": "T-1" } });
    let claim = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let agent = request("/mcp", &claim);
    let callers: Vec<_> = (0..AT_ONCE)
        .map(|n| {
            let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
            stream.write_all(if n == 0 { &agent } else { &open }.as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut watcher = server.client(&shown);
    let mut inside = |count: usize| {
        let line = format!("countersign_requests_in_progress {count}");
        wait_until(|| watcher.get("/metrics").body.lines().any(|it| it == line));
    };
    inside(AT_ONCE + 1);
    drop(callers);
    inside(1);
    let said = server.client(&shown).ask("run.open", &json!({ "objective": "one too many" }));
    assert_eq!((said.status, said.json()["code"].as_str()), (503, Some("BUSY")), "{said:?}");
    let both = ("accept", "application/json, text/event-stream");
    let said = server.client(&shown).send("POST", "/mcp", &[both], Some(&claim.to_string())).unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (503, Some("BUSY")), "{said:?}");
    server.signal("TERM");
    wait_until(|| std::net::TcpStream::connect(&server.address).is_err());
    sql.execute_batch("ROLLBACK").unwrap();
    assert_eq!(server.ended(), Some(0));
    let log = house.run(&["log"]).out;
    let count = |kind: &str| log.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((count("run.opened"), count("task.claimed")), (AT_ONCE, 1));
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

#[test]
fn a_body_that_drips_is_not_waited_for() {
    use std::io::{BufReader, Write};
    let house = project();
    let server = Server::start(&house, &["--patience", "1"]);
    let shown = owner(&house);
    let head = format!(
        "POST /v1/commands/run.open HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {shown}\r\n\
         content-type: application/json\r\ncontent-length: 1000000\r\n\r\n",
        server.address
    );
    let stream = std::net::TcpStream::connect(&server.address).unwrap();
    let mut writing = stream.try_clone().unwrap();
    writing.write_all(head.as_bytes()).unwrap();
    // One byte after the other, for as long as the server listens: each of them comes in time.
    let drips = std::thread::spawn(move || {
        while writing.write_all(b" ").is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    let said = server::read(&mut BufReader::new(stream), "POST").unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (408, Some("TOO_SLOW")), "{said:?}");
    drips.join().unwrap();
    assert_eq!(server.client(&shown).get("/v1/runs").json()["runs"], json!([]));
}

#[test]
fn a_second_signal_ends_a_server_at_once() {
    let house = project();
    let mut server = Server::start(&house, &[]);
    let shown = owner(&house);
    run_with(&mut server.client(&shown), 1);
    let turn = held_turn(&house);
    let mut waiting = server.client(&shown);
    let asked = std::thread::spawn(move || waiting.ask_once("run.open", "k", &json!({ "objective": "wait" })));
    let mut watcher = server.client(&shown);
    wait_until(|| watcher.get("/metrics").body.lines().any(|line| line == "countersign_requests_in_progress 2"));
    server.signal("TERM");
    wait_until(|| std::net::TcpStream::connect(&server.address).is_err());
    server.signal("TERM");
    assert_eq!(server.ended(), Some(3), "it does not say that all is well");
    assert!(asked.join().unwrap().is_err(), "nobody is told that something was done");
    drop(turn);
    assert_eq!(house.run(&["log"]).out.lines().filter(|line| line.contains("run.opened")).count(), 1);
    assert_eq!(house.run(&["verify"]).code, 0);
}

/// The writer's place, which nobody else gets until it is dropped.
fn held_turn(house: &house::House) -> std::fs::File {
    let turn = std::fs::File::options().write(true).open(house.path(".countersign/ledger.db-turn")).unwrap();
    turn.lock().unwrap();
    turn
}

#[test]
fn a_ledger_that_stays_busy_is_said_so_and_nothing_was_done() {
    let house = project();
    let server = Server::start(&house, &["--patience", "1"]);
    let mut client = server.client(&owner(&house));
    let turn = held_turn(&house);
    let open = json!({ "objective": "ship it" });
    let said = client.ask_once("run.open", "k", &open).unwrap();
    assert_eq!((said.status, said.json()["code"].as_str()), (503, Some("BUSY")), "{said:?}");
    assert_eq!((said.header("retry-after"), said.header("content-type")), ("1", "application/problem+json"));
    assert!(said.json()["help"].as_str().unwrap().contains("nothing was done"), "{said:?}");
    // Reading goes on meanwhile.
    assert_eq!(client.get("/v1/runs").json()["runs"], json!([]));
    drop(turn);
    let done = client.ask_once("run.open", "k", &open).unwrap();
    assert_eq!((done.status, &done.json()["repeated"]), (200, &json!(false)), "{done:?}");
    assert_eq!(client.get("/v1/runs").json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_whose_ledger_has_moved_says_so_and_answers_nothing_from_the_old_one() {
    let (house, _server, mut client) = served();
    let mut live = listening(&client);
    let questions = ["/readyz", "/v1/runs", "/v1/locks/permission?path=src"];
    for path in questions {
        assert_eq!(client.get(path).status, 200, "{path}");
    }
    let moved = house.run(&["migrate", "--to", "moved.db"]);
    assert_eq!(moved.code, 0, "{moved:?}");
    for path in questions.into_iter().chain(["/v1/events"]) {
        let said = client.get(path);
        assert_eq!((said.status, said.header("content-type")), (503, "application/problem+json"), "{path}: {said:?}");
        let problem = said.json();
        assert_eq!(problem["code"], "LEDGER_UNAVAILABLE", "{path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains("has moved to"), "{path}: {problem}");
    }
    assert_eq!(client.get("/healthz").status, 200);
    // Nothing is recorded in the old ledger that could wake who listens, so that they are looked after from time to time.
    assert_eq!(live.next(), None);
}
