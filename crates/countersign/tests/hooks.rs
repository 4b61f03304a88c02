//! Hooks of coding agents, through the binary, with events as their clients tell them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod server;
mod shop;

use countersign_ledger::{Clock, Sqlite, Store, Time};
use serde_json::{Value, json};
use shop::{CLAUDE, Shop, denied};
use std::process::{Command, Stdio};
use std::time::Duration;

const NOTHING: fn() -> Value = || json!({});
const WRITES: &[(&str, &str)] = &[
    ("claude-code", "write"),
    ("claude-code", "edit"),
    ("claude-code", "multi-edit"),
    ("claude-code", "notebook-edit"),
    ("codex", "apply-patch"),
];
const CODEX: &str = "codex:dd0baf0b";

fn name_of(client: &str) -> &'static str {
    if client == "codex" { CODEX } else { CLAUDE }
}

fn every_event() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks");
    let mut all = Vec::new();
    for client in ["claude-code", "codex"] {
        for entry in std::fs::read_dir(folder.join(client)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            all.push((client.to_owned(), name.trim_end_matches(".json").to_owned()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_write_is_denied_unless_a_task_of_the_actor_holds_the_path() {
    let shop = Shop::open();
    for (client, event) in WRITES {
        let reason = shop.answer(client, event, "src/a/one.rs");
        let reason = denied(&reason).unwrap();
        assert!(reason.starts_with("SCOPE_VIOLATION: `src/a/one.rs`"), "{reason}");
        assert!(reason.contains(name_of(client)) && reason.contains("task next"), "{reason}");
    }
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    shop.ask(CODEX, "task.claim", json!({ "task_id": "T-2" }));
    for (client, event) in WRITES {
        let (own, other) = if *client == "codex" { ("src/b", "src/a") } else { ("src/a", "src/b") };
        assert_eq!(shop.answer(client, event, &format!("{own}/new/file.rs")), NOTHING(), "{client} {event}");
        let answer = shop.answer(client, event, &format!("{other}/x.rs"));
        let reason = denied(&answer).unwrap();
        let holder = if *client == "codex" { CLAUDE } else { CODEX };
        assert!(reason.starts_with("LOCK_CONFLICT") && reason.contains(holder), "{reason}");
        let outside = shop.answer(client, event, "docs/c.md");
        assert!(denied(&outside).unwrap().starts_with("SCOPE_VIOLATION"), "{outside}");
        let ledger = shop.answer(client, event, ".countersign/ledger.db");
        assert!(denied(&ledger).unwrap().contains("belongs to the ledger"), "{ledger}");
        // A name that is only like the scope's is not in it.
        assert!(denied(&shop.answer(client, event, &format!("{own}2/x.rs"))).is_some());
    }
    // Its own log is always open to a worker.
    assert_eq!(shop.answer("claude-code", "write", "worklogs/T-1.jsonl"), NOTHING());
    assert_eq!(shop.answer("claude-code", "read", "docs/c.md"), NOTHING());
    assert_eq!(shop.answer("claude-code", "bash", "docs/c.md"), NOTHING());
}

#[test]
fn the_environment_says_in_whose_name_a_session_acts() {
    let shop = Shop::open();
    shop.ask("worker-1", "task.claim", json!({ "task_id": "T-1" }));
    assert!(denied(&shop.answer("claude-code", "write", "src/a/one.rs")).is_some());
    let worker = [("COUNTERSIGN_ACTOR", "worker-1")];
    assert_eq!(shop.answer_as("claude-code", "write", "src/a/one.rs", &worker), NOTHING());
    // An agent inside of a session is somebody else.
    let inside = shop.event("claude-code", "write", "src/b/two.rs").replacen('{', "{\"agent_id\": \"agent-7f3a\",", 1);
    let answer = shop.hook("claude-code", &inside, &[]);
    assert!(answer.out.contains(&format!("{CLAUDE}.")), "{answer:?}");
}

#[test]
fn where_nothing_is_managed_a_hook_says_nothing() {
    let copy = Shop::idle();
    std::fs::remove_dir_all(copy.house.path(".home")).unwrap();
    for entry in std::fs::read_dir(copy.house.path(".countersign")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ledger")) {
            std::fs::remove_file(path).unwrap();
        }
    }
    for shop in [Shop::unmanaged(), Shop::idle(), copy] {
        for (client, event) in every_event() {
            assert_eq!(shop.answer(&client, &event, "src/a/one.rs"), NOTHING(), "{client} {event}");
        }
    }
    let unmanaged = Shop::unmanaged();
    for garbage in ["", "{", "[]", "null", "{\"hook_event_name\": 7}"] {
        let answer = unmanaged.hook("claude-code", garbage, &[]);
        assert_eq!((answer.code, answer.out.trim(), answer.err.as_str()), (0, "{}", ""), "{garbage}");
    }
}

#[test]
fn a_file_of_no_project_is_nobodys_to_refuse() {
    let shop = Shop::open();
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("x").display().to_string();
    assert_eq!(shop.answer("claude-code", "write", &path), NOTHING());
    // But a session that left the project still may not write into it.
    let event = shop.event("claude-code", "write", "src/a/one.rs");
    let mut event: Value = serde_json::from_str(&event).unwrap();
    event["cwd"] = json!(other.path());
    let answer = shop.hook("claude-code", &event.to_string(), &[]);
    assert!(denied(&serde_json::from_str(&answer.out).unwrap()).is_some(), "{answer:?}");
}

#[test]
fn an_empty_project_inside_of_a_project_hides_nothing() {
    let shop = Shop::open();
    for folder in ["src/.countersign", "src/a/.countersign"] {
        std::fs::create_dir_all(shop.house.path(folder)).unwrap();
    }
    for path in ["src/x", "src/a/one.rs", "src/.countersign/config.toml"] {
        let answer = shop.answer("claude-code", "write", path);
        assert!(denied(&answer).unwrap().contains(&format!("`{path}`")), "{answer}");
    }
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "write", "src/a/one.rs"), NOTHING());
    // Nor does it where the session works.
    shop.house.write("docs/c.md", "stray");
    let mut event: Value = serde_json::from_str(&shop.event("claude-code", "bash-done", "")).unwrap();
    event["cwd"] = json!(shop.root().join("src/a"));
    let answer = shop.hook("claude-code", &event.to_string(), &[]);
    assert!(answer.out.contains("`docs/c.md`"), "{answer:?}");
}

#[test]
fn what_cannot_be_read_is_refused_where_something_is_managed() {
    let shop = Shop::open();
    let long = format!("{{\"hook_event_name\": \"PreToolUse\", \"x\": \"{}\"}}", "y".repeat(33 << 20));
    let cases = [
        "",
        "hello",
        "{\"hook_event_name\": \"PreToolUse\"",
        "[]",
        "null",
        "{}",
        "{\"hook_event_name\": null}",
        "{\"hook_event_name\": 7}",
        "{\"hook_event_name\": \"PreToolUse\", \"tool_name\": [\"Write\"]}",
        "{\"hook_event_name\": \"PreToolUse\", \"session_id\": {}, \"tool_name\": \"Write\"}",
        &long,
    ];
    for case in cases {
        for client in ["claude-code", "codex"] {
            let answer = shop.hook(client, case, &[]);
            assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{case:.60}: {answer:?}");
            assert!(answer.err.contains("cannot tell"), "{case:.60}: {answer:?}");
        }
    }
    // An event that can be read, and does not say what would be changed, is denied in its form.
    for input in [json!({}), json!({ "file_path": 7 }), json!({ "file_path": "" }), json!([]), json!("x"), Value::Null]
    {
        for tool in ["Write", "Edit", "NotebookEdit", "apply_patch", ""] {
            let event = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input });
            let answer = shop.hook("claude-code", &event.to_string(), &[]);
            assert_eq!(answer.code, 0, "{event}: {answer:?}");
            assert!(denied(&serde_json::from_str(&answer.out).unwrap()).is_some(), "{event}: {answer:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_and_a_large_file_do_no_harm() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let event = shop.event("claude-code", "write", "src/a/one.rs");
    let marked = shop.hook("claude-code", &format!("\u{feff}{event}"), &[]);
    assert_eq!((marked.code, marked.out.trim()), (0, "{}"), "{marked:?}");
    let large = event.replace("fn main() {}", &"x".repeat(10 << 20));
    let answer = shop.hook("claude-code", &large, &[]);
    assert_eq!((answer.code, answer.out.trim()), (0, "{}"));
    let stray = large.replace("src/a/one.rs", "docs/c.md");
    assert!(denied(&serde_json::from_str(&shop.hook("claude-code", &stray, &[]).out).unwrap()).is_some());
}

#[cfg(unix)]
#[test]
fn a_path_is_what_it_leads_to() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    std::os::unix::fs::symlink("../../docs/c.md", shop.house.path("src/a/link")).unwrap();
    std::os::unix::fs::symlink("../../docs", shop.house.path("src/a/folder")).unwrap();
    std::os::unix::fs::symlink("../../docs/not there yet", shop.house.path("src/a/dangling")).unwrap();
    std::os::unix::fs::symlink("src/a", shop.house.path("inside")).unwrap();
    let cases = [
        ("src/a/link", true),
        ("src/a/folder/new", true),
        ("src/a/dangling", true),
        ("src/a/../../docs/c.md", true),
        ("src/a/./x", false),
        ("inside/x", false),
        ("docs/../src/a/y", false),
        // A name is what it is on the disk, not what it could be read as.
        (r"docs\\..\\src\\a\\x", true),
        (r"src/a/tab\tin it", false),
    ];
    for (path, refused) in cases {
        let answer = shop.answer("claude-code", "write", path);
        assert_eq!(denied(&answer).is_some(), refused, "{path}: {answer}");
    }
}

#[test]
fn every_file_of_a_patch_is_asked_about() {
    let shop = Shop::open();
    shop.ask(CODEX, "task.claim", json!({ "task_id": "T-1" }));
    let event = |patch: &str| {
        let event = shop.event("codex", "apply-patch", "src/a/one.rs");
        let mut event: Value = serde_json::from_str(&event).unwrap();
        event["tool_input"]["command"] = json!(patch);
        serde_json::from_str::<Value>(&shop.hook("codex", &event.to_string(), &[]).out).unwrap()
    };
    assert_eq!(
        event("*** Begin Patch\n*** Add File: src/a/x\n+x\n*** Delete File: src/a/one.rs\n*** End Patch"),
        NOTHING()
    );
    let stray = event("*** Begin Patch\n*** Update File: src/a/one.rs\n*** Move to: docs/one.rs\n@@\n*** End Patch");
    assert!(denied(&stray).unwrap().contains("docs/one.rs"), "{stray}");
    assert!(denied(&event("nothing that names a file")).is_some());
}

#[test]
fn a_worktree_has_the_same_locks() {
    let shop = Shop::open();
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    shop.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let at = |path: &str| shop.answer("claude-code", "write", tree.join(path).to_str().unwrap());
    assert_eq!(at("src/a/one.rs"), NOTHING());
    assert!(denied(&at("docs/c.md")).unwrap().contains("`docs/c.md`"));
}

#[test]
fn a_project_below_the_top_is_found_from_a_worktree() {
    let shop = Shop::unmanaged();
    shop.house.write("svc/src/a.rs", "x").write("svc/docs/b.md", "x");
    assert_eq!(shop.house.run(&["init", "svc", "--name", "below"]).code, 0);
    shop.commit();
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().canonicalize().unwrap().join("tree");
    shop.git(&["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let at = |folder: &str, arguments: &[&str]| {
        let answer = shop.house.run_in(&tree.join(folder), arguments, "", &[("COUNTERSIGN_ACTOR", CLAUDE)]);
        assert_eq!(answer.code, 0, "{folder} {arguments:?}: {answer:?}");
        answer.out
    };
    at("svc", &["run", "open", "--objective", "o"]);
    at("svc/src", &["task", "add", "T-1", "--title", "t", "--lock", ".", "--accept", "it holds"]);
    at("svc", &["task", "claim", "T-1"]);
    let mine = at("svc/docs", &["lock", "mine", "--format", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&mine).unwrap()["locks"][0]["path"], "src", "{mine}");
    // There is one ledger, and hooks know of it.
    assert!(!tree.join("svc/.countersign/ledger.db").exists());
    let write = |path: &str| shop.answer("claude-code", "write", tree.join(path).to_str().unwrap());
    assert_eq!(write("svc/src/a.rs"), NOTHING());
    assert!(denied(&write("svc/docs/b.md")).unwrap().contains("`docs/b.md`"));
    assert_eq!(write("src/a/one.rs"), NOTHING(), "what lies beside it is not its own");
    let again = shop.house.run_in(&tree.join("svc"), &["init"], "", &[]);
    assert!(again.code == 3 && again.err.contains("worktree"), "{again:?}");
}

#[test]
fn what_a_command_changed_outside_is_found_afterwards() {
    let shop = Shop::open();
    shop.house.write("dirty before.txt", "x");
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    shop.ask("worker-2", "task.claim", json!({ "task_id": "T-2" }));
    shop.house.write("src/a/one.rs", "own").write("src/b/two.rs", "of another");
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING());
    shop.house.write("docs/c.md", "stray").write("new stray", "x");
    for client in ["claude-code", "codex"] {
        let env = [("COUNTERSIGN_ACTOR", CLAUDE)];
        let answer = shop.answer_as(client, "bash-done", "", &env);
        let reason = answer["reason"].as_str().unwrap();
        assert_eq!(answer["decision"], "block");
        assert!(reason.starts_with("SCOPE_VIOLATION: `docs/c.md`, `new stray` changed since T-1"), "{reason}");
        assert_eq!(answer.as_object().unwrap().len(), 2);
    }
    // A commit hides nothing.
    shop.commit();
    assert_eq!(shop.answer("claude-code", "bash-done", "")["decision"], "block");
    shop.house.write("docs/c.md", "docs/c.md");
    std::fs::remove_file(shop.house.path("new stray")).unwrap();
    shop.commit();
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING());
}

#[test]
fn what_a_command_changed_that_failed_is_found_too() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    shop.house.write("src/a/one.rs", "own");
    assert_eq!(shop.answer("claude-code", "bash-failed", ""), NOTHING());
    shop.house.write("docs/c.md", "stray");
    let answer = shop.answer("claude-code", "bash-failed", "");
    let said = &answer["hookSpecificOutput"];
    assert_eq!((&said["hookEventName"], answer.get("decision")), (&json!("PostToolUseFailure"), None), "{answer}");
    let said = said["additionalContext"].as_str().unwrap();
    assert!(said.starts_with("SCOPE_VIOLATION: `docs/c.md` changed since T-1"), "{said}");
}

#[test]
fn who_holds_nothing_is_told_of_changes_in_what_others_hold() {
    let shop = Shop::open();
    shop.house.write("src/b/before.rs", "x");
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING(), "nobody holds anything");
    shop.ask("worker-2", "task.claim", json!({ "task_id": "T-2" }));
    shop.answer("claude-code", "session-start", "");
    // Of others' work that was there before the session, it is not told.
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING());
    shop.house.write("src/b/two.rs", "changed").write("vendor/x", "forbidden").write("docs/c.md", "of no task");
    for (event, name) in [("bash-done", "PostToolUse"), ("bash-failed", "PostToolUseFailure")] {
        let answer = shop.answer("claude-code", event, "");
        assert_eq!((&answer["hookSpecificOutput"]["hookEventName"], answer.get("decision")), (&json!(name), None));
        let said = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(said.contains("LOCK_CONFLICT: `src/b/two.rs`") && said.contains("worker-2"), "{said}");
        assert!(said.contains("SCOPE_VIOLATION: `vendor/x`"), "{said}");
        assert!(!said.contains("docs/c.md") && !said.contains("before.rs"), "{said}");
        // Once, unless it changes again.
        assert_eq!(shop.answer("claude-code", event, ""), NOTHING());
        shop.house.write("src/b/two.rs", "changed again").write("vendor/x", "forbidden again");
    }
    shop.git(&["checkout", "src/b/two.rs"]);
    std::fs::remove_dir_all(shop.house.path("vendor")).unwrap();
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING(), "what was undone is no matter any more");
}

#[test]
fn what_a_command_changed_is_found_through_a_server_too() {
    let shop = Shop::open();
    let token = server::token(&shop.house, "worker-1", "agent", None);
    let server = server::Server::start(&shop.house, &[]);
    let url = format!("http://{}", server.address);
    shop.ask("worker-1", "task.claim", json!({ "task_id": "T-1" }));
    let event = shop.event("claude-code", "bash-done", "");
    let env = [("COUNTERSIGN_TOKEN", token.as_str())];
    let answer = || shop.house.run_with(&["hook", "claude-code", "--server", &url], &event, &env);
    assert_eq!(answer().out.trim(), "{}", "{:?}", answer());
    shop.house.write("docs/c.md", "stray");
    assert!(answer().out.contains("SCOPE_VIOLATION: `docs/c.md` changed since T-1"), "{:?}", answer());
}

#[test]
fn whoever_begins_is_told_who_they_are_and_what_they_hold() {
    let shop = Shop::open();
    for (client, event) in [("claude-code", "session-start"), ("codex", "session-start")] {
        let answer = shop.answer(client, event, "");
        let said = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "SessionStart");
        assert!(said.contains(&format!("--as {}", name_of(client))) && said.contains("You hold no task"), "{said}");
    }
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let answer = shop.answer("claude-code", "session-start", "");
    assert!(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("You hold T-1 of run"));
    let inside = shop.answer("claude-code", "subagent-start", "");
    let said = inside["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(said.contains(&format!("{CLAUDE}.")) && said.contains("You hold no task"), "{said}");
}

#[test]
fn a_session_with_unfinished_tasks_is_kept_and_in_the_end_let_go() {
    for client in ["claude-code", "codex"] {
        let shop = Shop::open();
        let name = name_of(client);
        assert_eq!(shop.answer(client, "stop", ""), NOTHING(), "it holds nothing");
        shop.ask(name, "task.claim", json!({ "task_id": "T-1" }));
        for round in 1..=5 {
            let answer = shop.answer(client, if round == 1 { "stop" } else { "stop-again" }, "");
            let reason = answer["reason"].as_str().unwrap();
            assert_eq!((&answer["decision"], answer.as_object().unwrap().len()), (&json!("block"), 2), "{answer}");
            assert!(
                reason.contains("T-1") && reason.contains("task submit") && reason.contains("task block"),
                "{reason}"
            );
            assert_eq!(reason.contains("last round"), round == 5, "{round}: {reason}");
        }
        let answer = shop.answer(client, "stop-again", "");
        assert!(answer.get("decision").is_none(), "{answer}");
        assert!(answer["systemMessage"].as_str().unwrap().contains("T-1 was recorded as blocked"), "{answer}");
        let task = shop.look("lead", "task.show", json!({ "task_id": "T-1" }));
        assert_eq!(task["task"]["status"], "blocked");
        assert!(task["task"]["blocker"].as_str().unwrap().starts_with("ACCEPTANCE_FAILED"), "{task}");
        assert_eq!(shop.answer(client, "stop-again", ""), NOTHING(), "it holds nothing any more");
    }
}

#[test]
fn whoever_lost_a_task_by_silence_is_told_so_once() {
    let long_ago = || Clock::manual(Time(jiff::Timestamp::now().as_millisecond() - 90 * 60_000)).0;
    let lost = |answer: &Value| {
        let reason = answer["reason"].as_str().unwrap_or_default();
        answer["decision"] == "block" && reason.contains("has lost T-1") && reason.contains("task claim T-1")
    };
    for client in ["claude-code", "codex"] {
        // An hour's lease, of which an hour and a half have gone: nobody has taken it back yet.
        let shop = Shop::open();
        shop.ask_at(long_ago(), name_of(client), "task.claim", json!({ "task_id": "T-1" }));
        let answer = shop.answer(client, "stop", "");
        assert!(lost(&answer), "{answer}");
        assert_eq!(shop.answer(client, "stop-again", ""), NOTHING(), "it is said once");
        shop.ask("lead", "task.claim", json!({ "task_id": "T-2" }));
        assert_eq!(shop.answer(client, "stop", ""), NOTHING(), "also when it was taken back since");
    }
    // What was seen to be held, and then lapsed and was taken back, is known all the same; and what else is held is told too.
    let shop = Shop::open();
    let (clock, _) = Clock::manual(Time(jiff::Timestamp::now().as_millisecond() - 2000));
    let short = json!({ "task_id": "T-3", "title": "t", "lock_scope": ["docs"], "acceptance_criteria": ["it holds"] });
    shop.ask("lead", "task.add", json!({ "tasks": [short] }));
    shop.ask_at(clock, CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING());
    let noted = std::fs::read_dir(shop.house.path(".countersign/held")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&noted).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["held"][0]["task"], "T-1", "{value}");
    // Its hour goes by.
    value["held"][0]["expires"] = json!("2026-01-01T00:00:00Z");
    let (later, _) = Clock::manual(Time(jiff::Timestamp::now().as_millisecond() + 90 * 60_000));
    shop.ask_at(later, "lead", "task.claim", json!({ "task_id": "T-2" }));
    std::fs::write(&noted, value.to_string()).unwrap();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-3" }));
    let answer = shop.answer("claude-code", "stop", "");
    assert!(lost(&answer) && answer["reason"].as_str().unwrap().contains("still holds T-3"), "{answer}");
    let again = shop.answer("claude-code", "stop-again", "");
    assert!(!lost(&again) && again["decision"] == "block", "{again}");
    // What somebody gave up themselves is no loss.
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "bash-done", ""), NOTHING());
    shop.ask(CLAUDE, "task.release", json!({ "task_id": "T-1", "reason": "r" }));
    assert_eq!(shop.answer("claude-code", "stop", ""), NOTHING());
    // Nor is what was given to somebody else, whatever they had lost of it before.
    let shop = Shop::open();
    shop.ask_at(long_ago(), CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert!(lost(&shop.answer("claude-code", "stop", "")));
    let claim = shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    shop.answer("claude-code", "bash-done", "");
    shop.ask("lead", "task.reassign", json!({ "task_id": "T-1", "owner": "mia", "reason": "she knows it" }));
    let noted = std::fs::read_dir(shop.house.path(".countersign/held")).unwrap().next().unwrap().unwrap().path();
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(&noted).unwrap()).unwrap();
    assert_eq!(value["held"][0]["lease"], claim["lease"], "{value}");
    value["held"][0]["expires"] = json!("2026-01-01T00:00:00Z");
    std::fs::write(&noted, value.to_string()).unwrap();
    assert_eq!(shop.answer("claude-code", "stop", ""), NOTHING());
}

#[test]
fn who_wants_to_end_is_told_what_was_wrong_with_the_last_result() {
    let shop = Shop::open();
    let claim = shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let said = || shop.answer("claude-code", "stop", "")["reason"].as_str().unwrap().to_owned();
    assert!(!said().contains("The last result"), "none was brought");
    let result = json!({
        "schema_version": "1.0.0", "run_id": claim["run_id"], "task_id": "T-1", "status": "done",
        "changes": [{ "resource": "src/b/two.rs", "action": "edit" }],
        "acceptance_check": [{ "criterion": "it holds", "status": "pass", "evidence": "14 tests pass" }],
        "worklog_path": "worklogs/T-1.jsonl", "notes_for_orchestrator": [],
    });
    let submit = |result: &Value| shop.try_ask(CLAUDE, "task.submit", json!({ "result": result })).unwrap_err();
    let (code, _) = submit(&result);
    let shown = shop.look(CLAUDE, "task.show", json!({ "task_id": "T-1" }));
    let finding = shown["refused_result"]["findings"][0].as_str().unwrap().to_owned();
    assert!(finding.contains("src/b/two.rs"), "{shown}");
    let kept = said();
    assert!(kept.contains(&format!("The last result of T-1 was refused, {code}: ")), "{kept}");
    assert!(kept.contains(finding.trim_end_matches('.')), "{kept}");
    // One that cannot be read at all is no exception.
    let mut unread = result.clone();
    unread.as_object_mut().unwrap().remove("status");
    assert_eq!(submit(&unread).0, "MISSING_REQUIRED_INPUT");
    let kept = said();
    assert!(
        kept.contains("MISSING_REQUIRED_INPUT") && kept.contains("status") && !kept.contains("src/b/two.rs"),
        "{kept}"
    );
    let out = shop.house.run(&["task", "show", "T-1"]).out;
    assert!(out.contains("last result  refused, MISSING_REQUIRED_INPUT: "), "{out}");
}

#[test]
fn whoever_says_that_it_is_blocked_is_let_go_at_once_and_progress_counts() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    for _ in 0..4 {
        assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
    }
    // Another task is another matter, and counted from the beginning.
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-2" }));
    for _ in 0..4 {
        let answer = shop.answer("claude-code", "stop", "");
        assert!(!answer["reason"].as_str().unwrap().contains("last round"), "{answer}");
    }
    for task in ["T-1", "T-2"] {
        let request = json!({ "task_id": task, "code": "DEPENDENCY_NOT_MET", "reason": "the key is missing" });
        shop.ask(CLAUDE, "task.block", request);
    }
    assert_eq!(shop.answer("claude-code", "stop", ""), NOTHING());
}

#[test]
fn an_agent_is_kept_for_its_own_tasks_and_not_for_its_sessions() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    assert_eq!(shop.answer("claude-code", "subagent-stop", ""), NOTHING());
    assert_eq!(shop.answer_as("claude-code", "subagent-stop", "", &[("COUNTERSIGN_ACTOR", CLAUDE)]), NOTHING());
    let said = shop.answer("claude-code", "subagent-start", "");
    let said = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let name = said.split("--as ").nth(1).unwrap().split('`').next().unwrap();
    shop.ask(name, "task.claim", json!({ "task_id": "T-2" }));
    let answer = shop.answer("claude-code", "subagent-stop", "");
    assert!(answer["reason"].as_str().unwrap().contains("T-2"), "{answer}");
}

#[test]
fn a_sign_of_life_is_given_when_a_quarter_of_the_lease_is_over() {
    let shop = Shop::open();
    let expires = |shop: &Shop| {
        let locks = shop.look(CLAUDE, "lock.mine", json!({}));
        locks["locks"][0]["expires_at"].as_str().unwrap().to_owned()
    };
    // An hour, of which twenty minutes have gone.
    let (clock, _) = Clock::manual(Time(jiff::Timestamp::now().as_millisecond() - 20 * 60_000));
    shop.ask_at(clock, CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let before = expires(&shop);
    assert!(denied(&shop.answer("claude-code", "write", "docs/c.md")).is_some());
    assert_eq!(expires(&shop), before, "a call that is refused is no sign of life");
    assert_eq!(shop.answer("claude-code", "write", "src/a/one.rs"), NOTHING());
    let after = expires(&shop);
    assert!(after > before, "{after} {before}");
    assert_eq!(shop.answer("claude-code", "write", "src/a/one.rs"), NOTHING());
    assert_eq!(expires(&shop), after, "a fresh one is not renewed");
}

#[test]
fn a_ledger_that_cannot_be_opened_is_a_refusal() {
    let shop = Shop::open();
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let ledger = shop.house.path(".countersign/ledger.db");
    // What SQLite keeps beside the file could bring it back.
    let bare = || {
        for entry in std::fs::read_dir(shop.house.path(".countersign")).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ledger")) {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    let spoil: [&dyn Fn(); 2] = [
        &|| {
            bare();
            std::fs::write(&ledger, "this is no database, and it never was one".repeat(200)).unwrap();
        },
        &bare,
    ];
    for spoil in spoil {
        spoil();
        for (client, event) in WRITES {
            let answer = shop.answer(client, event, "src/a/one.rs");
            assert!(denied(&answer).unwrap().contains("cannot tell"), "{answer}");
        }
        assert_eq!(shop.answer("claude-code", "bash-done", "")["decision"], "block");
        let failed = shop.answer("claude-code", "bash-failed", "");
        assert!(failed["hookSpecificOutput"]["additionalContext"].as_str().unwrap().contains("cannot tell"));
        assert_eq!(shop.answer("claude-code", "stop", "")["decision"], "block");
        // Nobody is kept for ever by what cannot be mended from inside.
        let again = shop.answer("claude-code", "stop-again", "");
        assert!(again.get("decision").is_none() && again["systemMessage"].is_string(), "{again}");
        assert_eq!(shop.answer("claude-code", "session-start", ""), NOTHING());
        assert_eq!(shop.answer("claude-code", "unknown", ""), NOTHING());
    }
}

#[test]
fn settings_that_are_not_right_are_a_refusal() {
    let shop = Shop::open();
    shop.house.write(".countersign/config.toml", "this = is = not = toml");
    let answer = shop.answer("claude-code", "write", "src/a/one.rs");
    assert!(denied(&answer).unwrap().contains("config.toml"), "{answer}");
}

#[test]
fn an_answer_comes_before_the_deadline_whatever_is_waited_for() {
    for (shop, code) in [(Shop::open(), 2), (Shop::unmanaged(), 0)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.args(["hook", "claude-code", "--deadline", "0.2"]).current_dir(shop.root());
        command.env("COUNTERSIGN_HOME", shop.house.path(".home")).env_remove("CLAUDE_PROJECT_DIR");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Standard input stays open, and nothing comes.
        let held = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(held);
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.contains("within 0.2 s")), (Some(code), code == 2), "{err}");
    }
}

#[test]
fn a_ledger_that_somebody_writes_to_keeps_nobody_waiting() {
    let shop = Shop::open();
    let (clock, _) = Clock::manual(Time(jiff::Timestamp::now().as_millisecond() - 20 * 60_000));
    shop.ask_at(clock, CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    let mut store = Sqlite::open(&shop.house.path(".countersign/ledger.db"), Clock::System).unwrap();
    store.begin_within(Duration::from_secs(30)).unwrap();
    // A sign of life is due and cannot be given; the answer does not depend on it.
    let event = shop.event("claude-code", "write", "src/a/one.rs");
    let allowed = shop.house.run_with(&["hook", "claude-code", "--deadline", "2"], &event, &[]);
    assert_eq!((allowed.code, allowed.out.trim()), (0, "{}"), "{allowed:?}");
    let event = shop.event("claude-code", "write", "docs/c.md");
    let refused = shop.house.run_with(&["hook", "claude-code"], &event, &[]);
    assert!(denied(&serde_json::from_str(&refused.out).unwrap()).unwrap().starts_with("SCOPE_VIOLATION"));
    store.rollback();
}
