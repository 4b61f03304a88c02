//! How a session begins, lives and ends.

use super::*;

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
fn a_text_that_was_cut_in_the_middle_of_a_character_keeps_nobody() {
    let shop = Shop::open();
    let event = |name: &str| {
        let whole = shop.event("claude-code", name, "docs/c.md");
        whole.replacen('{', r#"{"last_assistant_message": "done \ud83d","#, 1)
    };
    let stop = shop.hook("claude-code", &event("stop"), &[]);
    assert_eq!((stop.code, stop.err.as_str()), (0, ""), "{stop:?}");
    let write = shop.hook("claude-code", &event("write"), &[]);
    assert!(denied(&serde_json::from_str(&write.out).unwrap()).unwrap().contains("`docs/c.md`"), "{write:?}");
}
