//! The protocol itself: revisions, what is no message, long calls, and ends.

use super::*;

#[test]
fn the_newer_revision_needs_no_handshake_and_says_what_it_speaks() {
    let house = project();
    let session = &mut Session::start(&house, "agent:w1", Revision::Stateless);
    let found = session.result("server/discover", json!({}));
    let versions: Vec<&str> = found["supportedVersions"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(versions.contains(&"2026-07-28") && versions.contains(&"2025-11-25"), "{found}");
    assert!(found["instructions"].as_str().unwrap().contains("claim"));
    // A message that means nothing yet ends nothing.
    session.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } }).to_string(),
    );
    assert_eq!(tools(session).len(), 27);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "1999-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    });
    session
        .send(&json!({ "jsonrpc": "2.0", "id": 77, "method": "tools/list", "params": { "_meta": meta } }).to_string());
    assert_eq!(session.receive()["error"]["code"], -32022);
    session.send(&json!({ "jsonrpc": "2.0", "id": 78, "method": "tools/list" }).to_string());
    assert_eq!(session.receive()["error"]["code"], -32602);
}

/// How long documents may be in a project that wants them short.
const SIZE_MAX: usize = 100_000;

fn small_project() -> house::House {
    let house = project();
    house.write(".countersign/config.toml", format!("[limits]\nsize = {SIZE_MAX}\n"));
    house
}

#[test]
fn what_is_no_message_is_answered_and_the_next_one_is_read() {
    for revision in BOTH {
        let house = small_project();
        let session = &mut Session::start(&house, "agent:w1", revision);
        for (line, code) in [
            ("garbage", -32700),
            ("{\"jsonrpc\":", -32700),
            ("\u{1b}[2J", -32700),
            ("[]", -32600),
            ("42", -32600),
            ("{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"ping\"}", -32600),
            (&format!("[{}", "[".repeat(100_000)), -32700),
        ] {
            session.send(line);
            let answer = session.receive();
            assert_eq!(answer["error"]["code"], code, "{line:.80}: {answer}");
            assert_eq!(answer["id"], if line.contains("\"id\"") { json!(5) } else { Value::Null }, "{answer}");
        }
        session.send("");
        session.send(&"x".repeat(2 << 20));
        assert_eq!(session.receive()["error"]["code"], -32600);
    }
    let house = small_project();
    for revision in BOTH {
        let session = &mut Session::open(&house, "agent:w1", revision);
        let unknown = session.request("tools/call", json!({ "name": "erase", "arguments": {} }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
        assert!(unknown["error"]["message"].as_str().unwrap().contains("known are next, claim"));
        assert_eq!(session.request("no/such/method", json!({}))["error"]["code"], -32601);
        for (method, params) in [
            ("tools/call", json!({ "name": "next", "arguments": [] })),
            ("tools/call", json!({ "name": "next", "arguments": "{}" })),
            ("tools/call", json!({ "arguments": {} })),
            ("prompts/get", json!({ "name": 7 })),
            ("resources/read", json!({})),
        ] {
            let answer = session.request(method, params);
            assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains("has to be a text"), "{answer}");
        }
        // A document that is too large is refused by the check, not by the protocol.
        let (object, refused) =
            session.call("check", json!({ "document": "x".repeat(SIZE_MAX + 1), "name": "a.json" }));
        assert_eq!((refused, &object["allow"]), (false, &json!(false)));
        assert!(!session.call("next", json!({})).1);
    }
}

#[test]
fn an_answer_that_no_client_would_take_is_refused_or_cut_with_a_note() {
    let house = project();
    let session = &mut Session::open(&house, "agent:w1", Revision::Handshake);
    let say = Promises::of(session);
    let mut unknown = house::document("assignment", json!({}));
    for n in 0..300 {
        unknown[format!("unknown_field_number_{n}")] = json!(n);
    }
    let (object, _) = say.call(session, "check", json!({ "document": unknown, "strict": true }));
    assert!(object["note"].as_str().unwrap().contains("findings"), "{object}");
    assert!(object.to_string().len() < 100_000);
    let long = json!({ "document": format!("{{\"text\": \"{}\"}}", "word ".repeat(20_000)), "name": "a.json" });
    assert_eq!(say.refused(session, "fix", long), "TOKEN_LIMIT_EXCEEDED");
}

#[test]
fn when_standard_input_ends_what_was_asked_is_answered_and_the_server_ends() {
    let house = project();
    let mut session = Session::open(&house, "agent:w1", Revision::Handshake);
    let ids: Vec<u64> = (0..20)
        .map(|_| session.write("tools/call", json!({ "name": "check", "arguments": { "document": result() } })))
        .collect();
    let (rest, code) = session.end();
    let mut answered: Vec<u64> =
        rest.iter().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64()).collect();
    answered.sort_unstable();
    assert_eq!((answered, code), (ids, 0));
    // One that was told nothing ends as well.
    assert_eq!(Session::start(&house, "agent:w1", Revision::Stateless).end(), (Vec::new(), 0));
}

#[test]
fn what_takes_long_keeps_nobody_from_giving_a_sign_of_life() {
    let house = project();
    let mut session = Session::open(&house, "agent:w1", Revision::Handshake);
    let lease = session.done("claim", json!({ "task_id": "T-1" }))["lease"].clone();
    let document = format!("[{}]", vec![result().to_string(); 3000].join(","));
    let slow: Vec<u64> = (0..8)
        .map(|_| session.write("tools/call", json!({ "name": "check", "arguments": { "document": document } })))
        .collect();
    let beat = json!({ "name": "heartbeat", "arguments": { "task_id": "T-1", "lease": lease } });
    let beat = session.write("tools/call", beat);
    let order: Vec<u64> = (0..9).map(|_| session.receive()["id"].as_u64().unwrap()).collect();
    assert_ne!(order.last(), Some(&beat), "{order:?} {slow:?}");
}

#[test]
fn who_calls_is_the_connections_and_a_token_says_what_they_may() {
    let house = project();
    let session = &mut Session::open(&house, "agent:w1", Revision::Handshake);
    let (object, refused) = session.call("claim", json!({ "task_id": "T-1", "actor": "agent:w2" }));
    assert!(refused && object["code"] == "SCHEMA_INVALID", "{object}");
    session.done("claim", json!({ "task_id": "T-1" }));
    assert!(house.run(&["log"]).out.contains("agent:w1"));
    let answer = house.run_with(&["mcp"], "", &[("COUNTERSIGN_TOKEN", "cst_none_such")]);
    assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
    // Where there is no ledger, that is said, and not on standard output.
    let answer = house::House::new().run(&["mcp"]);
    assert_eq!((answer.code, answer.out.as_str()), (3, ""), "{answer:?}");
    ask(&house, "run.cancel", &json!({ "run_id": RUN, "reason": "the end" }));
    assert!(session.call("claim", json!({ "task_id": "T-2" })).1);
}

#[test]
fn a_token_that_is_taken_back_speaks_for_nobody_from_then_on() {
    let house = project();
    let owner = house.owner_token();
    let made = house.run(&["token", "make", "--role", "agent", "--task", "T-1", "--token-file", &owner]);
    assert_eq!(made.code, 0, "{made:?}");
    let shown = made.out.split_whitespace().find(|word| word.starts_with("cst_")).unwrap().to_owned();
    let env = [("COUNTERSIGN_TOKEN", shown.as_str())];
    let session = &mut Session::installed(&house, env!("CARGO_BIN_EXE_countersign"), &["mcp"], &env);
    session.done("may_i_change", json!({ "path": "src/money/round.rs" }));
    let id = shown.split('_').nth(1).unwrap();
    let taken = house.run(&["token", "revoke", id, "--token-file", &owner]);
    assert_eq!(taken.code, 0, "{taken:?}");
    for (tool, arguments) in [
        ("may_i_change", json!({ "path": "src/money/round.rs" })),
        ("claim", json!({ "task_id": "T-1" })),
        ("explain", json!({ "id": "LOCK_CONFLICT" })),
    ] {
        let (object, refused) = session.call(tool, arguments);
        assert!(refused && object["code"] == "UNAVAILABLE", "{tool}: {object}");
        assert!(object["reason"].as_str().unwrap().contains("taken back"), "{tool}: {object}");
    }
    let read = session.request("resources/read", json!({ "uri": format!("countersign://runs/{RUN}") }));
    assert!(read["error"]["message"].as_str().unwrap().contains("taken back"), "{read}");
}

#[test]
fn a_ledger_that_has_moved_allows_nothing_any_more() {
    let house = project();
    let session = &mut Session::open(&house, "agent:w1", Revision::Handshake);
    session.done("claim", json!({ "task_id": "T-1" }));
    let asked = json!({ "path": "src/money/round.rs" });
    assert_eq!(session.done("may_i_change", asked.clone())["allowed"], true);
    let moved = house.run(&["migrate", "--to", "moved.db"]);
    assert_eq!(moved.code, 0, "{moved:?}");
    let (object, refused) = session.call("may_i_change", asked);
    assert!(refused && object["allow"] == false, "{object}");
    assert!(object["reason"].as_str().unwrap().contains("has moved to"), "{object}");
    let read = session.request("resources/read", json!({ "uri": format!("countersign://runs/{RUN}") }));
    assert!(read["error"]["message"].as_str().unwrap().contains("has moved to"), "{read}");
}

/// The client dies, and something else still holds the way to the server's standard input.
#[cfg(unix)]
#[test]
fn a_server_whose_client_is_gone_ends() {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::process::{Command, Stdio};
    let house = project();
    assert!(Command::new("mkfifo").arg(house.path("in")).status().unwrap().success());
    let client = format!("'{}' mcp <>in & read -r _", env!("CARGO_BIN_EXE_countersign"));
    let mut client = Command::new("sh")
        .args(["-c", &client])
        .current_dir(house.path(""))
        .env("COUNTERSIGN_HOME", house.path(".home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(client.stdout.take().unwrap());
    let mut held = std::fs::OpenOptions::new().read(true).write(true).open(house.path("in")).unwrap();
    held.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("\"id\":1"), "{line}");
    drop(client.stdin.take());
    client.wait().unwrap();
    // Its standard output ends when it does.
    out.read_to_string(&mut line).unwrap();
}
