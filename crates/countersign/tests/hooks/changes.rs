//! What a command changed is found afterwards.

use super::*;

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
