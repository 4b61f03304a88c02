//! A ledger on PostgreSQL over HTTP: what machines share goes through one server.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;

use countersign_ledger::conformance::postgres_server;
use house::House;
use serde_json::json;
use server::{Server, owner};

#[test]
fn a_ledger_in_a_database_is_served_through_every_route() {
    let database = postgres_server::shared();
    let house = House::new();
    let answer = house.run(&["--ledger", &database.url(), "init", "--name", "billing"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let mut server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    assert_eq!(client.get("/readyz").status, 200);
    // A command, the same once more under its key, and one that is refused.
    let open = json!({ "objective": "see" });
    let first = client.ask_once("run.open", "one", &open).unwrap();
    let run = first.answer()["run_id"].clone();
    let again = client.ask_once("run.open", "one", &open).unwrap();
    assert_eq!((again.answer()["run_id"].clone(), &again.json()["repeated"]), (run.clone(), &json!(true)));
    let refused = client.ask("task.claim", &json!({ "run_id": run, "task_id": "T-9" }));
    assert!((400..500).contains(&refused.status), "{refused:?}");
    // Questions, events and what agents' clients speak.
    let shown = client.get("/v1/runs");
    assert!(shown.status == 200 && shown.body.contains(run.as_str().unwrap()), "{shown:?}");
    let mut events = client.listen("/v1/events", &[]);
    let kinds: Vec<String> = events.by_ref().take(2).map(|it| it.1).collect();
    assert_eq!(kinds, ["project.initialised", "run.opened"]);
    let called = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } },
    });
    let both = [("Accept", "application/json, text/event-stream")];
    let spoken = client.send("POST", "/mcp", &both, Some(&called.to_string())).unwrap();
    assert_eq!(spoken.status, 200, "{spoken:?}");
    drop(events);
    server.signal("TERM");
    assert_eq!(server.ended(), Some(0));
    assert_eq!(house.run(&["verify"]).code, 0);
}
