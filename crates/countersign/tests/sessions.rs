//! A session that comes through both doors, its hooks and the server that its client starts, is one worker.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod shop;
mod wire;

use serde_json::{Value, json};
use shop::{Shop, denied};
use wire::Session;

const SESSION: &str = "3f1b0c5e-7a4d-4e0f-9c51-2b6d8f1a9e77";
const OTHER: &str = "99999999-7a4d-4e0f-9c51-2b6d8f1a9e77";
const AGENT: &str = "agent-7f3a";
const CALL: &str = "toolu_01CLAIM";

/// Somebody who works: a client, its session, and an agent inside of it.
#[derive(Clone, Copy)]
struct Worker {
    client: &'static str,
    session: &'static str,
    agent: Option<&'static str>,
}

const CLAUDE: Worker = Worker { client: "claude-code", session: SESSION, agent: None };
const CODEX: Worker = Worker { client: "codex", session: SESSION, agent: None };

impl Worker {
    /// What a hook answers to an event of theirs.
    fn hook(&self, shop: &Shop, fixture: &str, path: &str, change: impl FnOnce(&mut Value)) -> Value {
        let mut event: Value = serde_json::from_str(&shop.event(self.client, fixture, path)).unwrap();
        event["session_id"] = json!(self.session);
        if let Some(agent) = self.agent {
            event["agent_id"] = json!(agent);
        }
        change(&mut event);
        let answer = shop.hook(self.client, &event.to_string(), &[]);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{event}: {answer:?}");
        serde_json::from_str(&answer.out).unwrap()
    }

    fn writes(&self, shop: &Shop, path: &str) -> Value {
        self.hook(shop, if self.client == "codex" { "apply-patch" } else { "write" }, path, |_| {})
    }

    fn wants_to_end(&self, shop: &Shop) -> Value {
        self.hook(shop, if self.agent.is_some() { "subagent-stop" } else { "stop" }, "", |_| {})
    }

    /// The hook that a client runs before and after a tool of the server is used.
    fn uses(&self, shop: &Shop, event: &str, tool: &str, call: &str) {
        let said = self.hook(shop, "write", "", |it| {
            it["hook_event_name"] = json!(event);
            it["tool_name"] = json!(format!("mcp__countersign__{tool}"));
            it["tool_input"] = json!({});
            it["tool_use_id"] = json!(call);
        });
        assert_eq!(said, json!({}));
    }
}

/// The server as its client starts it.
fn server(shop: &Shop, client: &str, env: &[(&str, &str)]) -> Session {
    if client == "codex" {
        return Session::installed(&shop.house, env!("CARGO_BIN_EXE_countersign"), &["mcp", "--client", "codex"], env);
    }
    assert_eq!(shop.house.run(&["install", "claude-code", "--yes"]).code, 0);
    let settings: Value = serde_json::from_str(&shop.house.read(".mcp.json")).unwrap();
    let server = &settings["mcpServers"]["countersign"];
    let arguments: Vec<&str> = server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    Session::installed(&shop.house, server["command"].as_str().unwrap(), &arguments, env)
}

fn call_of_claude() -> Value {
    json!({ "claudecode/toolUseId": CALL, "progressToken": 2 })
}

fn call_of_codex(thread: &str) -> Value {
    let turn = json!({ "session_id": SESSION, "thread_id": thread, "turn_id": "turn-1" });
    json!({ "threadId": thread, "x-codex-turn-metadata": turn })
}

#[test]
fn what_a_session_claims_by_a_tool_is_its_own_for_its_hooks() {
    let inside = Worker { agent: Some(AGENT), ..CLAUDE };
    let codex_inside = Worker { agent: Some(AGENT), ..CODEX };
    let started_for = |session| vec![("CLAUDE_CODE_SESSION_ID", session)];
    let cases = [
        ("its hook saw the call", CLAUDE, true, vec![], call_of_claude()),
        ("the server was started for it", CLAUDE, false, started_for(SESSION), json!({})),
        ("it was cleared since the server was started", CLAUDE, true, started_for(OTHER), call_of_claude()),
        ("an agent inside of it", inside, true, started_for(SESSION), call_of_claude()),
        ("codex", CODEX, false, vec![], call_of_codex(SESSION)),
        ("codex, from the shell of another", CODEX, false, started_for(OTHER), call_of_codex(SESSION)),
        ("codex that tells the thread alone", CODEX, false, vec![], json!({ "threadId": SESSION })),
        ("an agent inside of codex", codex_inside, false, vec![], call_of_codex(AGENT)),
    ];
    for (case, worker, seen, env, meta) in cases {
        let shop = Shop::open();
        let mut server = server(&shop, worker.client, &env);
        assert_eq!(worker.wants_to_end(&shop), json!({}), "{case}: it holds nothing");
        if seen {
            worker.uses(&shop, "PreToolUse", "claim", CALL);
        }
        let (claimed, refused) = server.call_as("claim", json!({ "task_id": "T-1" }), meta);
        assert!(!refused, "{case}: {claimed}");
        assert_eq!(worker.writes(&shop, "src/a/one.rs"), json!({}), "{case}: {claimed}");
        let outside = worker.writes(&shop, "docs/c.md");
        assert!(denied(&outside).unwrap().starts_with("SCOPE_VIOLATION"), "{case}: {outside}");
        // Nobody else has it by that.
        let (stranger, sibling) = (Worker { session: OTHER, ..worker }, Worker { agent: Some("another"), ..worker });
        for other in [stranger, sibling] {
            let answer = other.writes(&shop, "src/a/one.rs");
            assert!(denied(&answer).unwrap().starts_with("LOCK_CONFLICT"), "{case}: {answer}");
            assert_eq!(other.wants_to_end(&shop), json!({}), "{case}");
        }
        let kept = worker.wants_to_end(&shop);
        assert_eq!(kept["decision"], "block", "{case}: {kept}");
        assert!(kept["reason"].as_str().unwrap().contains("T-1"), "{case}: {kept}");
        if seen {
            worker.uses(&shop, "PostToolUse", "claim", CALL);
            let notes = std::fs::read_dir(shop.house.path(".countersign/calls")).unwrap().count();
            assert_eq!(notes, 0, "{case}: what is over is not kept");
        }
    }
}

#[test]
fn a_call_of_nobody_who_is_known_claims_nothing() {
    for client in ["claude-code", "codex"] {
        let shop = Shop::open();
        let mut server = server(&shop, client, &[]);
        // The note of another call is not this one's.
        CLAUDE.uses(&shop, "PreToolUse", "claim", "toolu_01OTHER");
        for meta in [json!({}), json!({ "claudecode/toolUseId": CALL }), json!({ "threadId": "" })] {
            let (said, refused) = server.call_as("claim", json!({ "task_id": "T-1" }), meta);
            assert!(refused && said["code"] == "UNAVAILABLE", "{client}: {said}");
            assert!(said["reason"].as_str().unwrap().contains(&format!("which session of {client} calls")), "{said}");
            assert!(said["help"].as_str().unwrap().contains("COUNTERSIGN_ACTOR"), "{said}");
        }
        assert_eq!(shop.look("lead", "lock.list", json!({}))["locks"], json!([]));
        // What needs no name is answered.
        assert!(!server.call("explain", json!({ "what": "LOCK_CONFLICT" })).1);
        assert!(!server.result("resources/list", json!({}))["resources"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_name_that_is_given_holds_at_both_doors() {
    let shop = Shop::open();
    let env = [("COUNTERSIGN_ACTOR", "worker-1"), ("CLAUDE_CODE_SESSION_ID", SESSION)];
    let mut server = server(&shop, "claude-code", &env);
    let (claimed, _) = server.call_as("claim", json!({ "task_id": "T-1" }), call_of_claude());
    assert_eq!(claimed["answer"]["owner"], "worker-1", "{claimed}");
    assert_eq!(shop.answer_as("claude-code", "write", "src/a/one.rs", &env[..1]), json!({}));
    assert_eq!(shop.answer_as("claude-code", "stop", "", &env[..1])["decision"], "block");
}
