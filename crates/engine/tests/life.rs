//! The life of a task: who may do what in which state, and what is then recorded.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_contract::Schemas;
use countersign_engine::{COMMANDS, VIEWS};
use desk::{Desk, result, spec};
use serde_json::{Value, json};

#[test]
fn a_task_goes_from_todo_to_done_and_frees_what_waited() {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    let mut second = spec("T-2", "src/b");
    second["dependencies"] = json!(["T-1"]);
    desk.ok("ana", "task.add", json!({ "tasks": [second] }));
    assert_eq!(desk.code("bob", "task.claim", json!({ "task_id": "T-2" })), "DEPENDENCY_NOT_MET");
    let next = desk.look("bob", "task.next", json!({}));
    assert_eq!(next["task"]["task_id"], "T-1");
    let claim = desk.ok("bob", "task.claim", json!({}));
    assert_eq!(
        (&claim["task_id"], &claim["owner"], &claim["status"]),
        (&json!("T-1"), &json!("bob"), &json!("in_progress"))
    );
    let beat = desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": claim["lease"] }));
    assert!(beat["expires_at"].is_string());
    desk.ok(
        "bob",
        "worklog.add",
        json!({
            "task_id": "T-1", "action": "edit", "files_touched": ["src/a/x.rs"], "decision": "use a decimal type",
            "result": "tests pass", "next_step": "submit",
        }),
    );
    let done = desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/a/x.rs"]) }));
    assert_eq!(
        (&done["status"], &done["assurance"], &done["frees"]),
        (&json!("done"), &json!("claimed"), &json!(["T-2"]))
    );
    assert_eq!(desk.look("cem", "task.next", json!({}))["task"]["task_id"], "T-2");
    let shown = desk.look("ana", "run.show", json!({}));
    assert_eq!(shown["metrics"]["by_status"], json!({ "done": 1, "in_progress": 0, "todo": 1 }));
    assert_eq!(
        (&shown["metrics"]["denials"], &shown["metrics"]["first_pass_rate"]),
        (&json!({ "DEPENDENCY_NOT_MET": 1 }), &json!(1.0))
    );
    assert_eq!(desk.code("ana", "run.close", json!({})), "INVALID_TRANSITION");
    desk.ok("ana", "task.cancel", json!({ "task_id": "T-2", "reason": "not needed" }));
    assert_eq!(desk.ok("ana", "run.close", json!({}))["status"], "closed");
    assert_eq!(desk.look("ana", "reconcile", json!({ "run_id": run }))["findings"], json!([]));
}

/// Puts T-1 into a state.
fn in_state(state: &str) -> (Desk, String) {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    match state {
        "todo" => {}
        "in_progress" => {
            desk.claim("bob", "T-1");
        }
        "blocked" => {
            let why = json!({ "task_id": "T-1", "code": "DEPENDENCY_NOT_MET", "reason": "no server" });
            desk.ok("bob", "task.block", why);
        }
        "done" => {
            desk.claim("bob", "T-1");
            desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/a"]) }));
        }
        "failed" => {
            let why = json!({ "task_id": "T-1", "code": "ACCEPTANCE_FAILED", "reason": "no way" });
            desk.ok("ana", "task.fail", why);
        }
        "canceled" => {
            desk.ok("ana", "task.cancel", json!({ "task_id": "T-1", "reason": "not wanted" }));
        }
        other => panic!("{other}"),
    }
    assert_eq!(desk.status("T-1"), state);
    (desk, run)
}

/// What becomes of each command in each state: the state afterwards, or the code of the refusal.
#[test]
fn every_command_in_every_state_does_what_the_table_says() {
    const STATES: [&str; 6] = ["todo", "in_progress", "blocked", "done", "failed", "canceled"];
    let task = json!({ "task_id": "T-1" });
    let with = |more: Value| -> Value {
        let mut all = task.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let coded = with(json!({ "code": "DEPENDENCY_NOT_MET", "reason": "because" }));
    let reasoned = with(json!({ "reason": "because" }));
    let conflict = "CONCURRENCY_CONFLICT";
    let invalid = "INVALID_TRANSITION";
    // Who, the command, its request, and what comes of it in each state.
    let table: Vec<(&str, &str, Value, [&str; 6])> = vec![
        ("bob", "task.claim", task.clone(), ["in_progress", conflict, invalid, invalid, invalid, invalid]),
        ("cem", "task.claim", task.clone(), ["in_progress", conflict, invalid, invalid, invalid, invalid]),
        ("bob", "task.heartbeat", task.clone(), [conflict, "in_progress", conflict, conflict, conflict, conflict]),
        ("cem", "task.heartbeat", task.clone(), [conflict, conflict, conflict, conflict, conflict, conflict]),
        (
            "bob",
            "task.extend",
            with(json!({ "timeout_seconds": 900, "reason": "slow" })),
            [conflict, "in_progress", conflict, conflict, conflict, conflict],
        ),
        ("bob", "task.release", reasoned.clone(), [conflict, "todo", conflict, conflict, conflict, conflict]),
        ("bob", "task.block", coded.clone(), ["blocked", "blocked", invalid, invalid, invalid, invalid]),
        ("cem", "task.block", coded.clone(), ["blocked", conflict, invalid, invalid, invalid, invalid]),
        ("ana", "task.block", coded.clone(), ["blocked", "blocked", invalid, invalid, invalid, invalid]),
        ("ana", "task.unblock", reasoned.clone(), ["todo", invalid, "todo", invalid, invalid, invalid]),
        ("ana", "task.fail", coded.clone(), ["failed", "failed", "failed", invalid, invalid, invalid]),
        ("ana", "task.cancel", reasoned.clone(), ["canceled", "canceled", "canceled", invalid, invalid, "canceled"]),
        (
            "ana",
            "task.reassign",
            with(json!({ "owner": "dan", "reason": "stuck" })),
            ["in_progress", "in_progress", "in_progress", invalid, invalid, invalid],
        ),
        (
            "ana",
            "task.replan",
            json!({ "task": spec("T-1", "src/c"), "reason": "wider" }),
            ["todo", invalid, "todo", invalid, invalid, invalid],
        ),
    ];
    for (who, id, request, expected) in &table {
        for (state, expected) in STATES.iter().zip(expected) {
            let (desk, _) = in_state(state);
            let before = desk.head();
            match desk.ask(who, id, request.clone()) {
                Ok(_) => assert_eq!(&desk.status("T-1"), expected, "{who} {id} in {state}"),
                Err(countersign_engine::Failure::Refused(refusal)) => {
                    assert_eq!(refusal.code.as_str(), *expected, "{who} {id} in {state}: {refusal:?}");
                    assert_eq!(&desk.status("T-1"), state, "{who} {id}");
                    assert_eq!(desk.kinds_since(before), ["command.refused"], "{who} {id} in {state}");
                }
                Err(other) => panic!("{who} {id} in {state}: {other:?}"),
            }
        }
    }
    for (state, expected) in STATES.iter().zip([conflict, "done", conflict, conflict, conflict, conflict]) {
        let (desk, run) = in_state(state);
        let submit = json!({ "result": result(&run, "T-1", &["src/a"]) });
        match desk.ask("bob", "task.submit", submit) {
            Ok(_) => assert_eq!(desk.status("T-1"), expected),
            Err(failure) => assert!(format!("{failure:?}").contains("ConcurrencyConflict"), "{state}: {failure:?}"),
        }
    }
}

#[test]
fn every_change_of_state_leaves_an_event_that_says_from_to_and_why() {
    let (desk, _) = in_state("done");
    for (kind, facts) in desk.events().iter().filter(|(kind, _)| kind.starts_with("task.")) {
        assert!(facts["task"].is_string() && facts["to"].is_string(), "{kind}: {facts}");
        assert!(kind == "task.added" || (facts["from"].is_string() && facts["reason"].is_string()), "{kind}: {facts}");
    }
}

#[test]
fn who_leads_a_run_blocks_what_somebody_else_works_on() {
    let (desk, _) = in_state("in_progress");
    let block = json!({ "task_id": "T-1", "code": "DEPENDENCY_NOT_MET", "reason": "no server" });
    desk.ok("ana", "task.block", block.clone());
    assert_eq!(desk.code("bob", "task.heartbeat", json!({ "task_id": "T-1" })), "CONCURRENCY_CONFLICT");
    assert_eq!(desk.look("cem", "lock.who", json!({ "path": "src/a" }))["holders"], json!([]));
    // Nobody does so who lost it themselves, or names a lease as its worker would.
    desk.ok("ana", "task.reassign", json!({ "task_id": "T-1", "owner": "ana", "reason": "I do it" }));
    desk.pass(601);
    let lease = desk.claim("bob", "T-1");
    assert_eq!(desk.code("ana", "task.block", block.clone()), "CONCURRENCY_CONFLICT");
    let (desk, _) = in_state("in_progress");
    let mut named = block;
    named["lease"] = json!(lease + 100);
    assert_eq!(desk.code("ana", "task.block", named), "CONCURRENCY_CONFLICT");
    assert_eq!(desk.status("T-1"), "in_progress");
}

#[test]
fn a_lease_of_another_task_is_not_called_lost() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    desk.task("T-2", "src/b");
    let (first, second) = (desk.claim("bob", "T-1"), desk.claim("bob", "T-2"));
    let beat =
        |task: &str, lease: u64| desk.refused("bob", "task.heartbeat", json!({ "task_id": task, "lease": lease }));
    let (code, reason) = beat("T-2", first);
    assert_eq!(code, "CONCURRENCY_CONFLICT");
    assert_eq!(reason, format!("lease {first} is not that of T-2, which bob holds under {second}"));
    desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": first }));
    // Of one that was lost nobody is told which it is now.
    desk.pass(601);
    let third = desk.claim("bob", "T-2");
    let (_, reason) = beat("T-2", second);
    assert!(
        reason.starts_with(&format!("lease {second} of T-2 is gone; bob holds it since under lease {third}")),
        "{reason}"
    );
}

#[test]
fn no_worker_may_be_silent_for_more_than_a_week() {
    let desk = Desk::new();
    let run = desk.run();
    let week = 7 * 24 * 60 * 60;
    let lasting = |task: &str, seconds: i64| {
        let mut task = spec(task, "src/a");
        task["timeout_seconds"] = json!(seconds);
        task
    };
    let add = |task: Value| json!({ "tasks": [task] });
    desk.ok("ana", "task.add", add(lasting("T-1", week)));
    assert_eq!(desk.code("ana", "task.add", add(lasting("T-2", week + 1))), "SCHEMA_INVALID");
    let replan = json!({ "task": lasting("T-1", week + 1), "reason": "slow" });
    assert_eq!(desk.code("ana", "task.replan", replan), "SCHEMA_INVALID");
    // An assignment may say so; there is no such lease all the same.
    for task in ["T-1", "T-2"] {
        let assignment = json!({
            "schema_version": "1.0.0", "run_id": run, "packet_type": "assignment", "global_objective": "Round money",
            "task": {
                "task_id": task, "title": "Work", "type": "serial", "dependencies": [], "lock_scope": ["src/a"],
                "forbidden_scope": [], "acceptance_criteria": ["it works"], "worklog_path": "worklogs/T.jsonl",
                "timeout_seconds": week + 1, "heartbeat_interval_seconds": 60,
            },
            "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1",
        });
        let (code, reason) = desk.refused("ana", "envelope.apply", json!({ "envelope": {
            "schema_version": "1.0.0", "run_id": run, "ledger_delta": [], "assignments": [assignment], "active_locks": [],
            "blockers": [], "next_actions": ["wait"],
        }}));
        assert_eq!(code, "SCHEMA_INVALID", "{task}: {reason}");
        assert!(reason.contains("604801 s"), "{reason}");
    }
}

#[test]
fn what_is_odd_about_a_task_is_told_when_it_is_asked_for() {
    let desk = Desk::new();
    desk.run();
    let odd = |scope: &[&str]| {
        let mut task = spec("T-1", "src");
        task["lock_scope"] = json!(scope);
        task
    };
    let told = |id: &str, request: Value| {
        let reply = desk.ask("ana", id, request).unwrap();
        reply.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(told("task.add", json!({ "tasks": [odd(&["src/*.rs", "docs/[slug].md"])] })), ["lock-scope-pattern"]);
    let replan = |scope: &[&str]| json!({ "task": odd(scope), "reason": "other scope" });
    assert_eq!(told("task.replan", replan(&["src", "src/a.rs"])), ["lock-scope-redundant"]);
    // The whole tree is written as it is compared.
    assert_eq!(told("task.replan", replan(&["."])), Vec::<String>::new());
    // What is odd about a title is told once.
    let mut hidden = spec("T-2", "docs");
    hidden["title"] = json!("Round\u{202e}totals");
    assert_eq!(told("task.add", json!({ "tasks": [hidden] })).len(), 1);
}

#[test]
fn why_a_result_says_blocked_or_failed_names_its_code_once() {
    for (status, expected) in [("blocked", "blocked"), ("failed", "blocked")] {
        let (desk, run) = in_state("in_progress");
        let mut stopped = result(&run, "T-1", &[]);
        stopped["status"] = json!(status);
        stopped["acceptance_check"] = json!([{ "criterion": "it works", "status": "fail", "evidence": "it waits" }]);
        stopped["notes_for_orchestrator"] = json!(["SCOPE_VIOLATION: src/b: it is needed too"]);
        desk.ok("bob", "task.submit", json!({ "result": stopped }));
        assert_eq!(desk.status("T-1"), expected);
        let shown = desk.look("ana", "task.show", json!({ "task_id": "T-1" }));
        assert_eq!(shown["task"]["blocker"], "SCOPE_VIOLATION: src/b: it is needed too", "{shown}");
    }
}

#[test]
fn scopes_that_overlap_are_held_once_in_all_open_runs() {
    let desk = Desk::new();
    let one = desk.run();
    desk.task("T-1", "src");
    desk.task("T-2", "src/api/x.rs");
    desk.task("T-3", "src2");
    desk.claim("bob", "T-1");
    let (code, reason) = desk.refused("cem", "task.claim", json!({ "task_id": "T-2" }));
    assert_eq!(code, "LOCK_CONFLICT");
    assert!(reason.starts_with("T-1 of bob holds `src` until 2027-01-15T"), "{reason}");
    assert!(reason.ends_with("; `src/api/x.rs` overlaps that"), "{reason}");
    desk.claim("cem", "T-3");
    let two = desk.run();
    let add = json!({ "run_id": two, "tasks": [spec("T-1", "src/api"), spec("T-2", ".")] });
    desk.ok("ana", "task.add", add);
    for task in ["T-1", "T-2"] {
        assert_eq!(desk.code("dan", "task.claim", json!({ "run_id": two, "task_id": task })), "LOCK_CONFLICT");
    }
    let who = desk.look("dan", "lock.who", json!({ "path": "src/api/deep/y.rs" }));
    assert_eq!((&who["holders"][0]["task_id"], &who["holders"][0]["owner"]), (&json!("T-1"), &json!("bob")));
    desk.ok("bob", "task.release", json!({ "run_id": one, "task_id": "T-1", "reason": "later" }));
    assert_eq!(desk.look("dan", "lock.who", json!({ "path": "src/api" }))["holders"], json!([]));
    assert_eq!(desk.ok("dan", "task.claim", json!({ "run_id": two, "task_id": "T-1" }))["status"], "in_progress");
}

#[test]
fn may_i_change_says_who_and_why_not() {
    let desk = Desk::new();
    assert_eq!(desk.look("bob", "lock.may", json!({ "path": "src/x" }))["allowed"], true, "no run is open");
    let run = desk.run();
    let mut task = spec("T-1", "src");
    task["forbidden_scope"] = json!(["src/vendor"]);
    // A scope may not forbid what it locks, so what is forbidden lies beside it.
    assert_eq!(desk.code("ana", "task.add", json!({ "tasks": [task.clone()] })), "SCOPE_VIOLATION");
    task["forbidden_scope"] = json!(["vendor"]);
    desk.ok("ana", "task.add", json!({ "tasks": [task] }));
    desk.task("T-2", "docs");
    let may = |who: &str, path: &str| {
        let shown = desk.look(who, "lock.may", json!({ "path": path }));
        (shown["allowed"].as_bool().unwrap(), shown["code"].as_str().unwrap_or("OK").to_owned())
    };
    assert_eq!(may("bob", "src/x"), (false, "SCOPE_VIOLATION".to_owned()), "nothing is claimed");
    desk.claim("bob", "T-1");
    desk.claim("cem", "T-2");
    let cases = [
        ("bob", "src/x", true, "OK"),
        ("bob", "worklogs/T-1.jsonl", true, "OK"),
        ("bob", "docs/a.md", false, "LOCK_CONFLICT"),
        ("bob", "vendor/x", false, "SCOPE_VIOLATION"),
        ("bob", "README.md", false, "SCOPE_VIOLATION"),
        ("bob", ".countersign/ledger.db", false, "SCOPE_VIOLATION"),
        ("cem", "src/x", false, "LOCK_CONFLICT"),
        ("dan", "src/x", false, "LOCK_CONFLICT"),
    ];
    for (who, path, allowed, code) in cases {
        assert_eq!(may(who, path), (allowed, code.to_owned()), "{who} {path}");
    }
    let why = desk.look("bob", "lock.may", json!({ "path": "vendor/x" }))["reason"].clone();
    assert_eq!(why, "`vendor` is in the forbidden scope of T-1");
    desk.pass(601);
    assert!(!may("bob", "src/x").0, "a lease that lapsed holds nothing");
    desk.ok("ana", "run.cancel", json!({ "run_id": run, "reason": "enough" }));
}

#[test]
fn what_is_not_a_graph_is_not_added() {
    let desk = Desk::new();
    desk.run();
    let with = |task: &str, after: &[&str]| {
        let mut spec = spec(task, &format!("src/{task}"));
        spec["dependencies"] = json!(after);
        spec
    };
    let cases = [
        (vec![with("T-1", &["T-1"])], "DEPENDENCY_NOT_MET"),
        (vec![with("T-1", &["T-2"]), with("T-2", &["T-3"]), with("T-3", &["T-1"])], "DEPENDENCY_NOT_MET"),
        (vec![with("T-1", &["T-9"])], "DEPENDENCY_NOT_MET"),
        (vec![with("T-1", &[]), with("T-1", &[])], "SCHEMA_INVALID"),
        (
            vec![json!({ "task_id": "T-1", "title": "x", "lock_scope": [], "acceptance_criteria": ["y"] })],
            "MISSING_REQUIRED_INPUT",
        ),
        (
            vec![json!({ "task_id": "T-1", "title": "x", "lock_scope": ["../x"], "acceptance_criteria": ["y"] })],
            "SCHEMA_INVALID",
        ),
    ];
    for (tasks, code) in cases {
        let (found, reason) = desk.refused("ana", "task.add", json!({ "tasks": tasks }));
        assert_eq!(found, code, "{reason}");
    }
    desk.ok("ana", "task.add", json!({ "tasks": [with("T-3", &["T-2"]), with("T-2", &["T-1"]), with("T-1", &[])] }));
    let graph = desk.look("ana", "task.graph", json!({}));
    assert_eq!(graph["tasks"].as_array().unwrap().len(), 3);
    // T-1 may not come to wait for what waits for it, however far round.
    let replan = json!({ "task": with("T-1", &["T-3"]), "reason": "turned round" });
    assert_eq!(desk.code("ana", "task.replan", replan), "DEPENDENCY_NOT_MET");
}

#[test]
fn a_result_is_held_against_its_assignment_and_the_tree() {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    let tree = |changed: &[&str]| {
        let changed = changed.iter().map(|path| ((*path).to_owned(), Some(format!("hash of {path}")))).collect();
        *desk.around.tree.lock().unwrap() =
            Some(countersign_domain::deciding::Tree { commit: Some("c0ffee".to_owned()), changed });
    };
    tree(&["README.md"]);
    desk.claim("bob", "T-1");
    let submit = |changes: &[&str]| desk.ask("bob", "task.submit", json!({ "result": result(&run, "T-1", changes) }));
    let code = |changes: &[&str]| match submit(changes) {
        Err(countersign_engine::Failure::Refused(refusal)) => refusal.code.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(code(&["src/b"]), "SCOPE_VIOLATION");
    let mut lacking = result(&run, "T-1", &["src/a"]);
    lacking["acceptance_check"] = json!([]);
    assert_eq!(desk.code("bob", "task.submit", json!({ "result": lacking })), "ACCEPTANCE_FAILED");
    assert_eq!(desk.code("bob", "task.submit", json!({ "result": "no result at all" })), "SCHEMA_INVALID");
    assert_eq!(
        desk.code("bob", "task.submit", json!({ "task_id": "T-2", "result": result(&run, "T-1", &[]) })),
        "CORRELATION_MISMATCH"
    );
    let mut secret = result(&run, "T-1", &["src/a"]);
    secret["notes_for_orchestrator"] = json!(["the key is AKIAIOSFODNN7EXAMPLE"]);
    assert_eq!(desk.code("bob", "task.submit", json!({ "result": secret })), "UNTRUSTED_CONTEXT_BLOCK");
    assert_eq!(desk.status("T-1"), "in_progress");
    assert!(submit(&["src/a"]).is_ok());
}

#[test]
fn whoever_lost_a_lease_must_name_one_and_a_late_result_is_kept() {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    let first = desk.claim("bob", "T-1");
    desk.pass(601);
    let second = desk.claim("cem", "T-1");
    assert!(second > first);
    let late = json!({ "lease": first, "result": result(&run, "T-1", &["src/a"]) });
    let (code, reason) = desk.refused("bob", "task.submit", late);
    assert_eq!(code, "CONCURRENCY_CONFLICT");
    assert!(reason.contains("kept as evidence"), "{reason}");
    let kept = desk.events().into_iter().rev().find(|(kind, _)| kind == "result.submitted").unwrap().1;
    assert_eq!((&kept["late"], &kept["lease"]), (&json!(true), &json!(first)));
    // Once: what is brought again is refused and not kept, and a wrong one of a stranger is told who holds the task.
    let late = json!({ "lease": first, "result": result(&run, "T-1", &["elsewhere"]) });
    let (code, reason) = desk.refused("bob", "task.submit", late.clone());
    assert_eq!((code.as_str(), reason.contains("kept")), ("CONCURRENCY_CONFLICT", false), "{reason}");
    assert_eq!(desk.code("dan", "task.submit", late), "CONCURRENCY_CONFLICT");
    assert_eq!(desk.status("T-1"), "in_progress");
    desk.ok("cem", "task.release", json!({ "task_id": "T-1", "reason": "not mine" }));
    let third = desk.claim("bob", "T-1");
    assert_eq!(desk.code("bob", "task.heartbeat", json!({ "task_id": "T-1" })), "CONCURRENCY_CONFLICT");
    desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": third }));
    assert_eq!(desk.code("bob", "task.heartbeat", json!({ "task_id": "T-1", "lease": first })), "CONCURRENCY_CONFLICT");
    desk.ok("bob", "task.submit", json!({ "lease": third, "result": result(&run, "T-1", &["src/a"]) }));
}

#[test]
fn whoever_stops_the_work_of_another_takes_the_lease_away_and_a_late_result_is_kept() {
    let coded = json!({ "task_id": "T-1", "code": "DEPENDENCY_NOT_MET", "reason": "because" });
    let reasoned = json!({ "task_id": "T-1", "reason": "because" });
    for (id, request) in [("task.fail", coded), ("task.cancel", reasoned)] {
        for silence in [0, 601] {
            let desk = Desk::new();
            let run = desk.run();
            // Many leases lapse at once, more than a command deals with before it is decided.
            for n in 2..20 {
                desk.task(&format!("T-{n}"), &format!("docs/{n}"));
                desk.claim("cem", &format!("T-{n}"));
            }
            desk.task("T-1", "src/a");
            let lease = desk.claim("bob", "T-1");
            desk.pass(silence);
            desk.ok("ana", id, request.clone());
            let late = json!({ "lease": lease, "result": result(&run, "T-1", &["src/a"]) });
            let (code, reason) = desk.refused("bob", "task.submit", late);
            assert_eq!(code, "CONCURRENCY_CONFLICT", "{id} after {silence} s");
            assert!(reason.contains("kept as evidence"), "{id} after {silence} s: {reason}");
            assert_eq!(desk.look("ana", "lock.who", json!({ "path": "src/a" }))["holders"], json!([]));
        }
    }
}

#[test]
fn failures_are_retried_within_the_budget_and_then_escalated() {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    let failed = |note: &str| {
        let mut failed = result(&run, "T-1", &[]);
        failed["status"] = json!("failed");
        failed["acceptance_check"] = json!([{ "criterion": "it works", "status": "fail", "evidence": "3 tests fail" }]);
        failed["notes_for_orchestrator"] = json!([note]);
        json!({ "result": failed })
    };
    desk.claim("bob", "T-1");
    assert_eq!(desk.ok("bob", "task.submit", failed("ACCEPTANCE_FAILED: 3 tests fail"))["status"], "todo");
    desk.claim("bob", "T-1");
    assert_eq!(desk.ok("bob", "task.submit", failed("ACCEPTANCE_FAILED: 3 tests fail"))["status"], "blocked");
    assert_eq!(desk.code("bob", "task.claim", json!({ "task_id": "T-1" })), "INVALID_TRANSITION");
    desk.ok("ana", "task.replan", json!({ "task": spec("T-1", "src/wider"), "reason": "the scope was too narrow" }));
    desk.claim("bob", "T-1");
    // What would fail again is not tried again.
    assert_eq!(desk.ok("bob", "task.submit", failed("SCOPE_VIOLATION: src/b is needed"))["status"], "blocked");
    let metrics = desk.look("ana", "run.show", json!({}))["metrics"].clone();
    assert_eq!((&metrics["retries"], &metrics["dispatches"]), (&json!(1), &json!(3)));
}

#[test]
fn only_work_that_was_done_meanwhile_excuses_a_change_outside_of_the_scope() {
    let desk = Desk::new();
    let run = desk.run();
    for (task, path) in [("T-1", "src/a"), ("T-2", "src/b"), ("T-3", "src/c")] {
        desk.task(task, path);
    }
    let tree = |changed: &[&str]| {
        let changed = changed.iter().map(|path| ((*path).to_owned(), Some(format!("hash of {path}")))).collect();
        *desk.around.tree.lock().unwrap() =
            Some(countersign_domain::deciding::Tree { commit: Some("c0ffee".to_owned()), changed });
    };
    tree(&[]);
    desk.claim("bob", "T-1");
    desk.claim("cem", "T-2");
    let submit = json!({ "result": result(&run, "T-1", &["src/a/x"]) });
    // Nobody has begun T-3, so what was changed there was changed by bob.
    tree(&["src/a/x", "src/b/y", "src/c/z"]);
    assert_eq!(desk.code("bob", "task.submit", submit.clone()), "SCOPE_VIOLATION");
    let many: Vec<String> = (0..300).map(|n| format!("src/b/{n:03}")).chain(["zz-stray".to_owned()]).collect();
    tree(&many.iter().map(String::as_str).chain(["src/a/x"]).collect::<Vec<_>>());
    assert_eq!(desk.code("bob", "task.submit", submit.clone()), "SCOPE_VIOLATION");
    tree(&["src/a/x", "src/b/y"]);
    desk.ok("bob", "task.submit", submit);
    let dirty: Vec<String> = (0..2001).map(|n| format!("build/{n}")).collect();
    tree(&dirty.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(desk.code("bob", "task.claim", json!({ "task_id": "T-3" })), "DEPENDENCY_NOT_MET");
}

#[test]
fn the_tables_are_whole() {
    let codes: Vec<&str> = COMMANDS.iter().map(|row| row.info.id).collect();
    let mut all = codes.clone();
    all.extend(VIEWS.iter().map(|row| row.info.id));
    let unique: std::collections::BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(unique.len(), all.len(), "each has a name of its own");
    for row in COMMANDS {
        assert!(row.info.invalidates.iter().all(|view| VIEWS.iter().any(|it| it.info.id == *view)), "{}", row.info.id);
        for schema in [row.request, row.answer] {
            let mut schemas = Schemas::default();
            let root = schema(&mut schemas);
            let document = json!({ "$defs": schemas.into_defs(), "allOf": [root] });
            assert!(jsonschema::validator_for(&document).is_ok(), "{}", row.info.id);
        }
        let mut schemas = Schemas::default();
        let root = (row.request)(&mut schemas);
        let validator = jsonschema::validator_for(&json!({ "$defs": schemas.into_defs(), "allOf": [root] })).unwrap();
        assert!(validator.is_valid(&(row.example)()), "{}: {}", row.info.id, (row.example)());
    }
}

#[test]
fn whoever_cancels_again_changes_nothing_and_is_on_the_record() {
    let (desk, run) = in_state("canceled");
    let again = desk.ask("cem", "task.cancel", json!({ "task_id": "T-1", "reason": "still not wanted" })).unwrap();
    assert_eq!(
        (&again.answer["run_id"], &again.answer["task_id"], &again.answer["status"], &again.answer["reason"]),
        (&json!(run), &json!("T-1"), &json!("canceled"), &json!("still not wanted"))
    );
    let kinds: Vec<&str> = again.events.iter().map(|event| event.text("kind")).collect();
    assert_eq!(kinds, ["task.asserted"]);
    let task = desk.look("ana", "task.show", json!({ "task_id": "T-1" }));
    assert_eq!((&task["task"]["status"], &task["task"]["owner"]), (&json!("canceled"), &serde_json::Value::Null));
}
