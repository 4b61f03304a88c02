//! Hooks of coding agents, through the binary, with events as their clients tell them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod bare;
mod changes;
mod doubt;
mod ending;
#[path = "../house/mod.rs"]
mod house;
#[path = "../server/mod.rs"]
mod server;
#[path = "../shop/mod.rs"]
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
