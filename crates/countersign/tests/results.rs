//! Results, compared with what was really changed in the working tree.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![allow(dead_code, reason = "each test file uses its part of the house")]

mod house;
mod shop;

use serde_json::{Value, json};
use shop::{CLAUDE, Shop};

/// What is said of a result with these changes: the code of a refusal, or the state of the task.
fn submitted(shop: &Shop, worker: &str, task: &str, changes: &[&str]) -> Result<Value, (String, String)> {
    let run = shop.look("lead", "run.list", json!({}))["runs"][0]["run_id"].clone();
    let changes: Vec<Value> =
        changes.iter().map(|path| json!({ "resource": path, "action": "edit", "evidence": "seen" })).collect();
    let result = json!({
        "schema_version": "1.0.0", "run_id": run, "task_id": task, "status": "done", "changes": changes,
        "acceptance_check": [{ "criterion": "it holds", "status": "pass", "evidence": "tests: 3 passed" }],
        "worklog_path": format!("worklogs/{task}.jsonl"), "notes_for_orchestrator": [],
    });
    shop.try_ask(worker, "task.submit", json!({ "result": result }))
}

#[test]
fn a_result_must_say_what_was_changed_and_nothing_may_lie_outside() {
    let shop = Shop::open();
    shop.house.write("lying about.txt", "before anything was claimed");
    shop.ask("one", "task.claim", json!({ "task_id": "T-1" }));
    shop.ask("two", "task.claim", json!({ "task_id": "T-2" }));
    shop.house.write("src/a/one.rs", "changed").write("src/a/new.rs", "new");
    // What another task holds, and where its worker keeps a log, is not this one's.
    shop.house.write("src/b/two.rs", "changed").write("worklogs/T-2.jsonl", "{}\n");
    let (code, reason) = submitted(&shop, "one", "T-1", &["src/a/one.rs"]).unwrap_err();
    assert_eq!(code, "INTEGRITY_MISMATCH", "{reason}");
    assert!(reason.contains("src/a/new.rs"), "{reason}");
    shop.house.write("docs/c.md", "stray");
    let (code, reason) = submitted(&shop, "one", "T-1", &["src/a"]).unwrap_err();
    assert_eq!(code, "SCOPE_VIOLATION", "{reason}");
    assert!(reason.contains("docs/c.md"), "{reason}");
    // That it was committed does not make it allowed.
    shop.commit();
    assert_eq!(submitted(&shop, "one", "T-1", &["src/a"]).unwrap_err().0, "SCOPE_VIOLATION");
    shop.house.write("docs/c.md", "docs/c.md");
    shop.commit();
    let done = submitted(&shop, "one", "T-1", &["src/a/one.rs", "src/a/new.rs", "src/a/never.rs"]).unwrap();
    assert_eq!(
        (&done["status"], &done["assurance"], &done["warnings"]),
        (&json!("done"), &json!("claimed"), &json!(1))
    );
    assert_eq!(submitted(&shop, "two", "T-2", &["src/b/two.rs"]).unwrap()["status"], "done");
}

#[test]
fn a_log_that_is_not_ignored_is_no_stray_of_another_worker() {
    let shop = Shop::open();
    shop.house.write(".gitignore", ".home/\n");
    shop.commit();
    shop.ask("one", "task.claim", json!({ "task_id": "T-1" }));
    shop.ask("two", "task.claim", json!({ "task_id": "T-2" }));
    shop.house.write("worklogs/T-1.jsonl", "{}\n").write("worklogs/T-2.jsonl", "{}\n");
    for (worker, task) in [("one", "T-1"), ("two", "T-2")] {
        assert_eq!(submitted(&shop, worker, task, &[]).unwrap()["status"], "done");
    }
}

#[test]
fn the_file_that_a_result_is_brought_in_is_no_change() {
    let shop = Shop::open();
    shop.ask("one", "task.claim", json!({ "task_id": "T-1" }));
    shop.ask("two", "task.claim", json!({ "task_id": "T-2" }));
    let run = shop.look("lead", "run.list", json!({}))["runs"][0]["run_id"].clone();
    let result = |task: &str| {
        house::document(
            "subagent_result",
            json!({ "run_id": run, "task_id": task, "changes": [], "worklog_path": format!("worklogs/{task}.jsonl"),
                "acceptance_check": [{ "criterion": "it holds", "status": "pass", "evidence": "tests: 3 passed" }] }),
        )
        .to_string()
    };
    let brought = |file: &str, worker: &str| {
        let answer = shop.house.run(&["task", "submit", file, "--as", worker, "--format", "json"]);
        let value: Value = serde_json::from_str(&answer.out).unwrap();
        (answer.code, value["code"].as_str().map(str::to_owned), value["reason"].to_string())
    };
    let one = result("T-1");
    // What the repository has is the work of others, whatever is written over it.
    shop.house.write("docs/c.md", &one);
    assert_eq!(brought("docs/c.md", "one").1.as_deref(), Some("SCOPE_VIOLATION"));
    shop.git(&["rm", "--quiet", "--cached", "docs/c.md"]);
    assert_eq!(brought("docs/c.md", "one").1.as_deref(), Some("SCOPE_VIOLATION"));
    shop.git(&["commit", "--quiet", "--no-verify", "-m", "gone"]);
    assert_eq!(brought("docs/c.md", "one").1.as_deref(), Some("SCOPE_VIOLATION"));
    shop.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    // In its own scope it would become part of the work.
    shop.house.write("src/a/result.json", &one);
    let (_, code, reason) = brought("src/a/result.json", "one");
    assert_eq!(code.as_deref(), Some("INTEGRITY_MISMATCH"), "{reason}");
    std::fs::remove_file(shop.house.path("src/a/result.json")).unwrap();
    // What is written beside a result in Markdown is read by others.
    shop.house.write("AGENTS.md", format!("---\n{one}\n---\nDo as I say.\n"));
    assert_eq!(brought("AGENTS.md", "one").1.as_deref(), Some("SCOPE_VIOLATION"));
    std::fs::remove_file(shop.house.path("AGENTS.md")).unwrap();
    // Where the task may write nothing, it may not write its result.
    shop.house.write("vendor/result.json", &one);
    assert_eq!(brought("vendor/result.json", "one").1.as_deref(), Some("SCOPE_VIOLATION"));
    std::fs::remove_dir_all(shop.house.path("vendor")).unwrap();
    // One that lies elsewhere is another change.
    shop.house.write("result of two.json", result("T-2")).write("result.json", &one);
    let (_, code, reason) = brought("result.json", "one");
    assert!(code.as_deref() == Some("SCOPE_VIOLATION") && reason.contains("result of two.json"), "{reason}");
    std::fs::rename(shop.house.path("result of two.json"), shop.house.path(".home/two.json")).unwrap();
    // What comes over standard input excuses no file that is called like it.
    shop.house.write("-", &one);
    let piped = shop.house.run_with(&["task", "submit", "-", "--as", "one", "--format", "json"], &one, &[]);
    assert!(piped.code == 1 && piped.out.contains("`-` was really changed"), "{piped:?}");
    std::fs::remove_file(shop.house.path("-")).unwrap();
    assert_eq!(brought("result.json", "one").0, 0);
    std::fs::remove_file(shop.house.path("result.json")).unwrap();
    std::fs::rename(shop.house.path(".home/two.json"), shop.house.path("result of two.json")).unwrap();
    assert_eq!(brought("result of two.json", "two").0, 0);
}

#[test]
fn before_the_first_commit_a_result_is_compared_as_well() {
    let shop = Shop { house: house::House::new() };
    shop.git(&["init", "--quiet"]);
    shop.house.write(".gitignore", ".home/\nworklogs/\n").write("notes.txt", "before anything was claimed");
    assert_eq!(shop.house.run(&["init", "--name", "shop"]).code, 0);
    shop.ask("lead", "run.open", json!({ "objective": "o" }));
    let task = json!({ "task_id": "T-1", "title": "t", "lock_scope": ["src"], "acceptance_criteria": ["it holds"] });
    shop.ask("lead", "task.add", json!({ "tasks": [task] }));
    shop.ask(CLAUDE, "task.claim", json!({ "task_id": "T-1" }));
    shop.house.write("src/new.rs", "new").write("stray.txt", "stray");
    let (code, reason) = submitted(&shop, CLAUDE, "T-1", &["src/new.rs"]).unwrap_err();
    assert!(code == "SCOPE_VIOLATION" && reason.contains("stray.txt") && !reason.contains("notes.txt"), "{reason}");
    let told = shop.answer("claude-code", "bash-done", "");
    assert!(told["decision"] == "block" && told["reason"].as_str().unwrap().contains("stray.txt"), "{told}");
    std::fs::remove_file(shop.house.path("stray.txt")).unwrap();
    assert_eq!(submitted(&shop, CLAUDE, "T-1", &[]).unwrap_err().0, "INTEGRITY_MISMATCH");
    // The first commit, made by whoever works, is compared with nothing.
    shop.git(&["config", "user.name", "ann"]);
    shop.git(&["config", "user.email", "ann@example.org"]);
    shop.commit();
    assert_eq!(submitted(&shop, CLAUDE, "T-1", &[]).unwrap_err().0, "INTEGRITY_MISMATCH");
    assert_eq!(submitted(&shop, CLAUDE, "T-1", &["src/new.rs"]).unwrap()["status"], "done");
}

#[test]
fn the_file_that_an_envelope_is_brought_in_keeps_nothing_from_being_given_out() {
    let shop = Shop::open();
    let run = shop.look("lead", "run.list", json!({}))["runs"][0]["run_id"].clone();
    let asked = json!({ "run_id": run, "task": { "task_id": "T-3", "lock_scope": ["docs"] } });
    let assignment = house::document("assignment", asked);
    let said =
        json!({ "run_id": run, "ledger_delta": [], "assignments": [assignment], "active_locks": [], "blockers": [] });
    let envelope = house::document("orchestrator_output", said).to_string();
    shop.house.write("envelope.json", &envelope).write("stray.txt", "stray");
    let apply = || shop.house.run(&["apply", "envelope.json", "--as", "lead"]);
    let refused = apply();
    assert!(
        refused.code == 1 && refused.err.contains("stray.txt") && !refused.err.contains("envelope.json"),
        "{refused:?}"
    );
    std::fs::remove_file(shop.house.path("stray.txt")).unwrap();
    let applied = apply();
    assert_eq!(applied.code, 0, "{applied:?}");
}
