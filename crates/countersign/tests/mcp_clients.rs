//! The server of the Model Context Protocol, on standard input and output and over HTTP, asked by clients that others wrote.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod clients;
mod house;
mod server;
mod wire;

use house::House;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const SERVER: &str = env!("CARGO_BIN_EXE_countersign");

/// What a client prints that ends well.
fn printed(client: &mut Command, house: &House) -> Value {
    let output = client.current_dir(house.path("")).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{client:?}\n{out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
}

/// The arguments of the server. A client passes on hardly any of its environment.
fn server(house: &House) -> Vec<String> {
    let script = house.path("server.sh");
    let home = house.path(".home");
    let text = format!(
        "#!/bin/sh\nCOUNTERSIGN_HOME='{}' exec '{SERVER}' --project '{}' mcp --as agent:w1\n",
        home.display(),
        house.path("").display()
    );
    std::fs::write(&script, text).unwrap();
    vec!["/bin/sh".to_owned(), script.display().to_string()]
}

/// The revisions, as the package names them and as they are spoken.
const REVISIONS: [(&str, &str); 3] = [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")];

fn agent(mode: &str) -> Command {
    let mut client = Command::new(clients::python());
    client.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/agent.py")).arg(mode);
    client
}

#[test]
fn the_python_client_lives_an_agents_life_in_every_revision() {
    for (mode, protocol) in REVISIONS {
        let house = wire::project();
        let seen = printed(agent(mode).arg("stdio").args(server(&house)), &house);
        lived(&house, &seen, protocol);
    }
}

#[test]
fn the_python_client_lives_the_same_life_over_http() {
    for (mode, protocol) in REVISIONS {
        let house = wire::project();
        let token = server::token(&house, "agent:w1", "agent", None);
        let served = server::Server::start(&house, &[]);
        let address = format!("http://{}/mcp", served.address);
        let seen = printed(agent(mode).args(["http", &address, &token]), &house);
        lived(&house, &seen, protocol);
    }
}

/// Whether everything came about as it should.
fn lived(house: &House, seen: &Value, protocol: &str) {
    assert_eq!(seen["protocol"], protocol, "{seen}");
    assert_eq!(seen["tools"].as_array().unwrap().len(), 27, "{seen}");
    assert_eq!(seen["next"]["answer"]["task"]["task_id"], "T-1", "{seen}");
    assert_eq!(seen["claimed"], "in_progress", "{seen}");
    assert_eq!(seen["refused"], json!([true, "DEPENDENCY_NOT_MET"]), "{seen}");
    assert_eq!(seen["may"], json!([false, "SCOPE_VIOLATION"]), "{seen}");
    assert_eq!((&seen["checked"], &seen["submitted"]), (&json!(true), &json!("claimed")), "{seen}");
    assert_eq!((&seen["status"], &seen["prompt"]), (&json!("done"), &json!(true)), "{seen}");
    assert_eq!(house.run(&["verify"]).code, 0);
}

#[test]
fn the_inspector_lists_the_tools_without_a_complaint_and_calls_them() {
    let house = wire::project();
    let inspect = |arguments: &[&str]| printed(clients::inspector().args(server(&house)).args(arguments), &house);
    // With `--strict` it fails on schemas that some client could not use.
    let tools = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 27, "{tools}");
    let claim = inspect(&["--method", "tools/call", "--tool-name", "claim", "--tool-arg", "task_id=T-1"]);
    assert_eq!(claim["structuredContent"]["answer"]["owner"], "agent:w1", "{claim}");
    let rule = inspect(&["--method", "resources/read", "--uri", "countersign://rules/LOCK_CONFLICT"]);
    assert!(rule["contents"][0]["text"].as_str().unwrap().starts_with("LOCK_CONFLICT"), "{rule}");
    let prompt = inspect(&["--method", "prompts/get", "--prompt-name", "validator"]);
    assert_eq!(prompt["messages"].as_array().unwrap().len(), 1, "{prompt}");
}

#[test]
fn the_inspector_finds_the_same_over_http() {
    let house = wire::project();
    let token = server::token(&house, "agent:w1", "agent", None);
    let served = server::Server::start(&house, &[]);
    let (address, header) = (format!("http://{}/mcp", served.address), format!("Authorization: Bearer {token}"));
    let inspect = |arguments: &[&str]| {
        let mut client = clients::inspector();
        client.args([address.as_str(), "--transport", "http", "--header", &header]).args(arguments);
        printed(&mut client, &house)
    };
    let tools = inspect(&["--method", "tools/list", "--strict"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 27, "{tools}");
    let claim = inspect(&["--method", "tools/call", "--tool-name", "claim", "--tool-arg", "task_id=T-1"]);
    assert_eq!(claim["structuredContent"]["answer"]["owner"], "agent:w1", "{claim}");
    let rule = inspect(&["--method", "resources/read", "--uri", "countersign://rules/LOCK_CONFLICT"]);
    assert!(rule["contents"][0]["text"].as_str().unwrap().starts_with("LOCK_CONFLICT"), "{rule}");
}
