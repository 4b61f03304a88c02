//! Who is let in over HTTP, what they may do, and what they may see.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use serde_json::{Value, json};
use server::work::{run_with, task};
use server::{Server, owner, project, token};

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
fn who_is_bound_to_a_task_sees_its_run_and_of_others_only_what_is_in_the_way() {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut boss = server.client(&owner(&house));
    let own = run_with(&mut boss, 2);
    let other = boss.ask("run.open", &json!({ "objective": "the secret plan" })).answer()["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    boss.ask("task.add", &json!({ "run_id": other, "tasks": [task("T-7", "docs"), task("T-8", "src/2.rs")] })).answer();
    let eve = token(&house, "agent:eve", "agent", None);
    let claim = |task: &str| json!({ "run_id": other, "task_id": task });
    server.client(&eve).ask("task.claim", &claim("T-7")).answer();
    server.client(&eve).ask("task.claim", &claim("T-8")).answer();
    let mut bound = server.client(&token(&house, "agent:b", "agent", Some((&own, "T-2"))));
    let names = ["agent:eve", "the secret plan", "T-7", "T-8"];
    let silent = |path: &str, bound: &mut server::Client| {
        let said = bound.get(path);
        for name in names {
            assert!(!said.body.contains(name), "{path} tells {name}: {said:?}");
        }
        said
    };
    // Its own run, whether it is named or not.
    for path in ["/v1/views/run.show".to_owned(), format!("/v1/runs/{own}")] {
        let said = silent(&path, &mut bound);
        assert_eq!(
            (said.status, said.json()["run_id"].as_str().or(said.json()["run"]["run_id"].as_str()).map(str::to_owned)),
            (200, Some(own.clone())),
            "{path}: {said:?}"
        );
    }
    assert_eq!(silent("/v1/views/task.show?task_id=T-2", &mut bound).status, 200);
    let runs = silent("/v1/runs", &mut bound).json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "{runs}");
    // Another run, or all of the project, is nobody's to see who is bound.
    for path in [format!("/v1/runs/{other}"), format!("/v1/runs/{other}/tasks"), "/v1/inbox".to_owned()] {
        let said = silent(&path, &mut bound);
        assert_eq!(
            (said.status, said.json()["code"].as_str()),
            (403, Some("AUTHORIZATION_MISSING")),
            "{path}: {said:?}"
        );
    }
    // That a path is held, and until when, has to be known.
    let locks = silent("/v1/locks", &mut bound).json();
    let held: Vec<&str> = locks["locks"].as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap()).collect();
    assert_eq!(held, ["docs", "src/2.rs"], "{locks}");
    assert!(locks["locks"][0]["expires_at"].is_string() && locks["locks"][0]["owner"] == "withheld", "{locks}");
    let may = silent("/v1/locks/permission?path=docs/a.md", &mut bound).json();
    assert_eq!(
        (&may["allowed"], &may["code"], &may["holder"]),
        (&json!(false), &json!("LOCK_CONFLICT"), &json!("withheld"))
    );
    assert!(may["expires_at"].is_string(), "{may}");
    let refused = bound.ask("task.claim", &json!({ "run_id": own, "task_id": "T-2" }));
    assert_eq!((refused.status, refused.json()["code"].as_str()), (409, Some("LOCK_CONFLICT")), "{refused:?}");
    assert!(names.iter().all(|name| !refused.body.contains(name)), "{refused:?}");
    assert!(refused.json()["detail"].as_str().unwrap().contains("another run holds `src/2.rs` until"), "{refused:?}");
    // The log has no gap: what is withheld is its number and its hash.
    let events: Vec<(u64, String, Value)> = bound.listen("/v1/events", &[]).take(8).collect();
    let kinds: Vec<&str> = events.iter().map(|it| it.1.as_str()).collect();
    let withheld = "withheld";
    let first = [withheld, "run.opened", "task.added", "task.added", withheld, withheld, withheld, withheld];
    assert_eq!(kinds, first, "{events:?}");
    let seen: Vec<(u64, String, Value)> = boss.listen("/v1/events", &[]).take(8).collect();
    for ((seq, _, stub), (same, _, event)) in events.iter().zip(&seen).filter(|(it, _)| it.1 == withheld) {
        assert_eq!(seq, same);
        assert_eq!(*stub, json!({ "kind": withheld, "seq": seq, "hash": event["hash"] }));
    }
    // Whoever is not bound sees everything, and so does the ledger.
    assert_eq!(boss.get("/v1/locks").json()["locks"][0]["owner"], "agent:eve");
    let told = house.run(&["log", "--format", "json"]).out;
    assert!(told.contains("command.refused"), "{told}");
}
