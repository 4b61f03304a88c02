//! Orchestrators' envelopes: applied in order, once, whole or not at all, and only to what their author has seen.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_engine::Failure;
use desk::{Desk, result};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn delta(id: &str, task: &str, status: &str) -> Value {
    json!({ "task_id": task, "status": status, "owner": "bob", "reason": "as planned", "delta_id": id })
}

fn assignment(run: &str, task: &str, path: &str) -> Value {
    json!({
        "schema_version": "1.0.0", "run_id": run, "packet_type": "assignment", "global_objective": "Round money half to even",
        "task": {
            "task_id": task, "title": format!("Work on {path}"), "type": "serial", "dependencies": [], "lock_scope": [path],
            "forbidden_scope": [], "acceptance_criteria": ["it works"], "worklog_path": format!("worklogs/{task}.jsonl"),
            "timeout_seconds": 600, "heartbeat_interval_seconds": 60,
        },
        "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1",
    })
}

fn envelope(run: &str, deltas: &[Value], assignments: &[Value]) -> Value {
    let locks: Vec<Value> = Vec::new();
    json!({ "envelope": {
        "schema_version": "1.0.0", "run_id": run, "ledger_delta": deltas, "assignments": assignments, "active_locks": locks,
        "blockers": [], "next_actions": ["wait"],
    }})
}

/// A run in which T-1 was made and given to bob by an envelope.
fn begun() -> (Desk, String) {
    let desk = Desk::new();
    let run = desk.run();
    let mut first = envelope(&run, &[delta("d-1", "T-1", "in_progress")], &[assignment(&run, "T-1", "src/a")]);
    first["envelope"]["active_locks"] = json!([{ "task_id": "T-1", "resource": "src/a", "active": true }]);
    let applied = desk.ok("ana", "envelope.apply", first);
    assert_eq!((&applied["deltas"], &applied["known"], &applied["assignments"]), (&json!(1), &json!(0), &json!(1)));
    (desk, run)
}

/// The same change by another owner.
fn owned(mut delta: Value, owner: &str) -> Value {
    delta["owner"] = json!(owner);
    delta
}

/// The same turn with something in the way of a task.
fn blocking(mut turn: Value, task: &str) -> Value {
    turn["envelope"]["blockers"] = json!([{ "task_id": task, "code": "LOCK_CONFLICT", "reason": "no server" }]);
    turn
}

#[test]
fn an_envelope_makes_a_task_and_gives_it_out() {
    let (desk, run) = begun();
    let task = desk.look("ana", "task.show", json!({ "task_id": "T-1" }));
    assert_eq!((&task["task"]["status"], &task["task"]["owner"]), (&json!("in_progress"), &json!("bob")));
    assert_eq!(task["acceptance_criteria"], json!(["it works"]));
    // The worker goes on as after a claim of its own.
    desk.ok("bob", "task.heartbeat", json!({ "task_id": "T-1" }));
    desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/a"]) }));
    assert_eq!(desk.status("T-1"), "done");
}

#[test]
fn deltas_are_applied_in_order_and_the_last_wins() {
    let (desk, run) = begun();
    let deltas = [delta("d-2", "T-1", "blocked"), delta("d-3", "T-1", "todo"), delta("d-4", "T-1", "canceled")];
    let before = desk.head();
    desk.ok("ana", "envelope.apply", envelope(&run, &deltas, &[]));
    assert_eq!(desk.status("T-1"), "canceled");
    let kinds = desk.kinds_since(before);
    let moved: Vec<&String> = kinds.iter().filter(|kind| kind.starts_with("task.")).collect();
    assert_eq!(moved, ["task.blocked", "task.requeued", "task.canceled"]);
}

#[test]
fn a_delta_is_applied_once_however_often_it_is_sent() {
    let (desk, run) = begun();
    let again = envelope(&run, &[delta("d-1", "T-1", "in_progress")], &[assignment(&run, "T-1", "src/a")]);
    let before = desk.head();
    let answer = desk.ok("ana", "envelope.apply", again);
    assert_eq!((desk.head(), &answer["seq"]), (before, &Value::Null), "everything was so already");
    assert_eq!((&answer["deltas"], &answer["known"], &answer["assignments"]), (&json!(0), &json!(1), &json!(0)));
    let mixed = envelope(&run, &[delta("d-1", "T-1", "in_progress"), delta("d-2", "T-1", "failed")], &[]);
    let answer = desk.ok("ana", "envelope.apply", mixed);
    assert_eq!((&answer["deltas"], &answer["known"]), (&json!(1), &json!(1)));
    assert_eq!(desk.status("T-1"), "failed");
    let mut other = delta("d-2", "T-1", "failed");
    other["reason"] = json!("for another reason");
    assert_eq!(desk.code("ana", "envelope.apply", envelope(&run, &[other], &[])), "LEDGER_INCONSISTENT");
}

#[test]
fn a_row_that_is_not_there_is_made_only_on_purpose() {
    let (desk, run) = begun();
    for status in ["in_progress", "blocked", "done", "failed", "canceled"] {
        let mut turn = envelope(&run, &[delta("d-9", "T-9", status)], &[]);
        if status == "blocked" {
            turn["envelope"]["blockers"] =
                json!([{ "task_id": "T-9", "code": "DEPENDENCY_NOT_MET", "reason": "no server" }]);
        }
        let (code, reason) = desk.refused("ana", "envelope.apply", turn);
        assert_eq!(code, "LEDGER_INCONSISTENT", "{status}: {reason}");
    }
    let made = envelope(&run, &[delta("d-10", "T-9", "todo")], &[assignment(&run, "T-9", "src/z")]);
    desk.ok("ana", "envelope.apply", made);
    assert_eq!(desk.status("T-9"), "todo");
}

#[test]
fn an_envelope_from_an_older_version_is_refused_whole() {
    let (desk, run) = begun();
    let bundle = desk.look("ana", "bundle.make", json!({}));
    let base = bundle["bundle"]["x_base_version"].as_u64().unwrap();
    desk.ok("bob", "task.extend", json!({ "task_id": "T-1", "timeout_seconds": 900, "reason": "slow tests" }));
    let mut late = envelope(
        &run,
        &[delta("d-3", "T-2", "todo"), delta("d-2", "T-1", "canceled")],
        &[assignment(&run, "T-2", "src/b")],
    );
    late["envelope"]["x_base_version"] = json!(base);
    let before = desk.head();
    assert_eq!(desk.code("ana", "envelope.apply", late.clone()), "CONCURRENCY_CONFLICT");
    assert_eq!(desk.kinds_since(before), ["command.refused"], "nothing of it was applied");
    late["envelope"]["x_base_version"] = json!(desk.head());
    desk.ok("ana", "envelope.apply", late);
    assert_eq!((desk.status("T-1").as_str(), desk.status("T-2").as_str()), ("canceled", "todo"));
}

#[test]
fn a_refused_part_leaves_nothing_of_the_rest() {
    let (desk, run) = begun();
    let cases = [
        (vec![delta("d-2", "T-1", "done")], vec![], "ACCEPTANCE_FAILED"),
        (vec![delta("d-2", "T-2", "in_progress")], vec![assignment(&run, "T-2", "src/a/b")], "LOCK_CONFLICT"),
        (vec![delta("d-2", "T-1", "todo")], vec![], "INVALID_TRANSITION"),
    ];
    for (deltas, assignments, expected) in cases {
        let before = desk.head();
        let mut all = vec![delta("d-0", "T-8", "todo")];
        all.extend(deltas);
        let mut asked = vec![assignment(&run, "T-8", "src/h")];
        asked.extend(assignments);
        let (code, reason) = desk.refused("ana", "envelope.apply", envelope(&run, &all, &asked));
        assert_eq!(code, expected, "{reason}");
        assert_eq!(desk.kinds_since(before), ["command.refused"]);
    }
}

#[test]
fn a_turn_that_was_applied_says_nothing_about_the_locks_of_now() {
    let (desk, run) = begun();
    desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/a"]) }));
    let mut again = envelope(&run, &[delta("d-1", "T-1", "in_progress")], &[assignment(&run, "T-1", "src/a")]);
    again["envelope"]["active_locks"] = json!([{ "task_id": "T-1", "resource": "src/a", "active": true }]);
    let before = desk.head();
    assert_eq!(desk.ok("ana", "envelope.apply", again)["known"], json!(1));
    assert_eq!((desk.head(), desk.status("T-1").as_str()), (before, "done"));
}

#[test]
fn locks_that_the_envelope_claims_must_be_held() {
    let (desk, run) = begun();
    desk.task("T-2", "src/b");
    let says = |task: &str, path: &str| {
        let mut turn = envelope(&run, &[], &[]);
        turn["envelope"]["active_locks"] = json!([{ "task_id": task, "resource": path, "active": true }]);
        turn
    };
    let held =
        [("T-2", "src/b"), ("T-77", "src/z"), ("T-1", "."), ("T-1", "src"), ("T-1", "src/a/x"), ("T-1", "src/b")];
    for (task, path) in held {
        let (code, reason) = desk.refused("ana", "envelope.apply", says(task, path));
        assert_eq!(code, "LEDGER_INCONSISTENT", "{task} {path}: {reason}");
        assert!(reason.contains(&format!("{task} holds `{path}`, and it does not")), "{reason}");
    }
    desk.ok("ana", "envelope.apply", says("T-1", "src/a"));
}

#[test]
fn an_assignment_makes_no_tasks_wait_for_each_other() {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    // A chain that is longer than what is looked up at once.
    for n in 2..=12 {
        let mut next = desk::spec(&format!("T-{n}"), &format!("src/{n}"));
        next["dependencies"] = json!([format!("T-{}", n - 1)]);
        desk.ok("ana", "task.add", json!({ "tasks": [next] }));
    }
    let waiting_for = |task: &str| {
        let mut anew = assignment(&run, "T-1", "src/a");
        anew["task"]["dependencies"] = json!([task]);
        envelope(&run, &[], &[anew])
    };
    for n in [2, 3, 12] {
        let before = desk.head();
        let (code, reason) = desk.refused("ana", "envelope.apply", waiting_for(&format!("T-{n}")));
        assert_eq!(code, "DEPENDENCY_NOT_MET", "{n}: {reason}");
        assert!(reason.contains("would wait for each other"), "{n}: {reason}");
        assert_eq!(desk.kinds_since(before), ["command.refused"]);
    }
    desk.task("T-20", "src/z");
    desk.ok("ana", "envelope.apply", waiting_for("T-20"));
    let shown = desk.look("ana", "task.show", json!({ "task_id": "T-1" }));
    assert_eq!(shown["task"]["waiting_for"], json!(["T-20"]), "{shown}");
}

#[test]
fn an_assignment_in_other_words_asks_anew() {
    let (desk, run) = begun();
    desk.ok("ana", "envelope.apply", envelope(&run, &[], &[assignment(&run, "T-2", "src/b")]));
    let mut worded = assignment(&run, "T-2", "src/b");
    worded["task"]["acceptance_criteria"] = json!(["it works for negative amounts, too"]);
    let turn = envelope(&run, &[], &[worded.clone()]);
    for asked in [1, 0] {
        assert_eq!(desk.ok("ana", "envelope.apply", turn.clone())["assignments"], json!(asked));
        let shown = desk.look("ana", "task.show", json!({ "task_id": "T-2" }));
        assert_eq!(shown["acceptance_criteria"], worded["task"]["acceptance_criteria"]);
    }
    // Nobody is asked for something else while they work.
    worded["task"]["task_id"] = json!("T-1");
    worded["task"]["lock_scope"] = json!(["src/a"]);
    worded["task"]["title"] = json!("Work on src/a");
    worded["task"]["worklog_path"] = json!("worklogs/T-1.jsonl");
    assert_eq!(desk.code("ana", "envelope.apply", envelope(&run, &[], &[worded])), "INVALID_TRANSITION");
}

#[test]
fn the_last_delta_of_a_task_says_who_has_it() {
    let in_progress = |id: &str, owner: &str| owned(delta(id, "T-2", "in_progress"), owner);
    let is_given = |desk: &Desk, owner: &str| {
        let shown = desk.look("ana", "task.show", json!({ "task_id": "T-2" }));
        assert_eq!((&shown["task"]["status"], &shown["task"]["owner"]), (&json!("in_progress"), &json!(owner)));
        desk.ok(owner, "task.heartbeat", json!({ "task_id": "T-2" }));
    };
    // Nobody has it yet.
    let (desk, run) = begun();
    desk.task("T-2", "src/b");
    let both = envelope(&run, &[in_progress("d-2", "first"), in_progress("d-3", "second")], &[]);
    let before = desk.head();
    desk.ok("ana", "envelope.apply", both);
    is_given(&desk, "second");
    assert_eq!(desk.kinds_since(before).iter().filter(|kind| *kind == "task.claimed").count(), 1);
    // Somebody has it: whoever is named last takes it over, and the other one has lost it.
    desk.ok("ana", "envelope.apply", envelope(&run, &[in_progress("d-4", "third")], &[]));
    is_given(&desk, "third");
    assert_eq!(desk.code("second", "task.heartbeat", json!({ "task_id": "T-2" })), "CONCURRENCY_CONFLICT");
    // To say it again takes nothing away.
    let lease = desk.look("ana", "task.show", json!({ "task_id": "T-2" }))["lease"].clone();
    let again = [in_progress("d-5", "first"), in_progress("d-6", "third")];
    desk.ok("ana", "envelope.apply", envelope(&run, &again, &[]));
    is_given(&desk, "third");
    assert_eq!(desk.look("ana", "task.show", json!({ "task_id": "T-2" }))["lease"], lease);
    // What is blocked by the last one is not begun by an earlier one.
    desk.task("T-3", "src/c");
    let begun_and_blocked = [owned(delta("d-7", "T-3", "in_progress"), "first"), delta("d-8", "T-3", "blocked")];
    desk.ok("ana", "envelope.apply", blocking(envelope(&run, &begun_and_blocked, &[]), "T-3"));
    assert_eq!(desk.status("T-3"), "blocked");
    // What is finished keeps its owner.
    desk.ok("third", "task.submit", json!({ "result": result(&run, "T-2", &["src/b"]) }));
    let done = |id: &str, owner: &str| envelope(&run, &[owned(delta(id, "T-2", "done"), owner)], &[]);
    assert_eq!(desk.code("ana", "envelope.apply", done("d-9", "first")), "INVALID_TRANSITION");
    desk.ok("ana", "envelope.apply", done("d-9", "third"));
}

#[test]
fn nothing_is_given_out_before_everything_agrees() {
    let desk = Desk::new();
    let tree = |changed: &[&str]| {
        let changed = changed.iter().map(|path| ((*path).to_owned(), Some(format!("hash of {path}")))).collect();
        *desk.around.tree.lock().unwrap() =
            Some(countersign_domain::deciding::Tree { commit: Some("c0ffee".to_owned()), changed });
    };
    // What was there before any work began is nobody's fault.
    tree(&["notes.txt"]);
    let run = desk.run();
    let begin = |id: &str, task: &str, path: &str| {
        envelope(&run, &[delta(id, task, "in_progress")], &[assignment(&run, task, path)])
    };
    desk.ok("ana", "envelope.apply", begin("d-1", "T-1", "src/a"));
    tree(&["notes.txt", "src/a/x", "stray.txt"]);
    let later = |id: &str, task: &str, path: &str| {
        let made = envelope(&run, &[delta(id, task, "todo")], &[assignment(&run, task, path)]);
        [begin(id, task, path), made, envelope(&run, &[], &[assignment(&run, task, path)])]
    };
    for turn in later("d-2", "T-2", "src/b") {
        let before = desk.head();
        let (code, reason) = desk.refused("ana", "envelope.apply", turn);
        assert_eq!(code, "LEDGER_INCONSISTENT", "{reason}");
        assert!(reason.contains("`stray.txt` was changed"), "{reason}");
        assert_eq!(desk.kinds_since(before), ["command.refused"]);
    }
    // The turn itself may mend it, and what gives nothing out needs not wait.
    desk.ok("ana", "envelope.apply", begin("d-2", "T-2", "stray.txt"));
    desk.ok("ana", "envelope.apply", envelope(&run, &[delta("d-3", "T-2", "canceled")], &[]));
    assert_eq!(desk.code("ana", "envelope.apply", begin("d-4", "T-3", "src/c")), "LEDGER_INCONSISTENT");
    tree(&["notes.txt", "src/a/x"]);
    // A worker that was silent for a while still has its lease, and contradicts nothing.
    desk.pass(300);
    desk.ok("ana", "envelope.apply", begin("d-4", "T-3", "src/c"));
    desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/a/x"]) }));
    let (code, reason) = desk.refused("ana", "envelope.apply", begin("d-5", "T-4", "src/d"));
    assert_eq!(code, "LEDGER_INCONSISTENT", "{reason}");
    assert!(reason.contains("its worklog has no line"), "{reason}");
    // It is said what to do, which need not be done by who is gone.
    let help = |turn: Value| match desk.ask("ana", "envelope.apply", turn) {
        Err(Failure::Refused(refusal)) => refusal.help.to_string(),
        other => panic!("it was not refused: {other:?}"),
    };
    let said = help(begin("d-5", "T-4", "src/d"));
    assert!(said.contains("countersign worklog add T-1") && said.contains("bob"), "{said}");
    let line = json!({ "task_id": "T-1", "action": "edit", "decision": "d", "result": "r", "next_step": "n" });
    assert_eq!(desk.code("cem", "worklog.add", line.clone()), "CONCURRENCY_CONFLICT");
    desk.ok("ana", "worklog.add", line);
    let looks = desk.around.looks.load(Ordering::SeqCst);
    desk.ok("ana", "envelope.apply", begin("d-5", "T-4", "src/d"));
    assert_eq!(desk.around.looks.load(Ordering::SeqCst) - looks, 1, "the tree is looked at once");
    tree(&["notes.txt", "src/a/x", ".mcp.json"]);
    let said = help(begin("d-6", "T-5", "src/e"));
    assert!(said.contains("commit it") && said.contains("countersign install"), "{said}");
}

#[test]
fn a_turn_comes_to_the_same_whether_or_not_a_lapse_was_seen_before_it() {
    for (is_named, base) in [(false, None), (true, None), (true, Some(()))] {
        let of = |is_seen: bool| {
            let (desk, run) = begun();
            // What its worker leaves half-written is still its task's.
            let changed = [("src/a/x".to_owned(), Some("half".to_owned()))].into();
            *desk.around.tree.lock().unwrap() =
                Some(countersign_domain::deciding::Tree { commit: Some("c0ffee".to_owned()), changed });
            let version = desk.head();
            desk.pass(7200);
            if is_seen {
                desk.engine.settle(64).unwrap();
            }
            let deltas = [delta("d-2", "T-2", "in_progress"), delta("d-3", "T-1", "in_progress")];
            let deltas = if is_named { &deltas[..] } else { &deltas[..1] };
            let mut turn = envelope(&run, deltas, &[assignment(&run, "T-2", "src/b")]);
            if base.is_some() {
                turn["envelope"]["x_base_version"] = json!(version);
            }
            let came = match desk.ask("ana", "envelope.apply", turn) {
                Ok(_) => "applied".to_owned(),
                Err(Failure::Refused(refusal)) => refusal.code.as_str().to_owned(),
                Err(failure) => panic!("{failure:?}"),
            };
            (came, desk.status("T-1"))
        };
        let wanted = if base.is_some() { "CONCURRENCY_CONFLICT" } else { "applied" };
        assert_eq!((of(true).0.as_str(), of(true)), (wanted, of(false)), "{is_named} {base:?}");
    }
}

#[test]
fn work_that_was_given_back_and_what_waits_in_vain_are_in_nobodys_way() {
    let (desk, run) = begun();
    let begin = |id: &str, task: &str, path: &str| {
        envelope(&run, &[delta(id, task, "in_progress")], &[assignment(&run, task, path)])
    };
    // What bob leaves half-written is gone on with by whoever takes the task next.
    let changed = [("src/a/x".to_owned(), Some("half".to_owned()))].into();
    *desk.around.tree.lock().unwrap() =
        Some(countersign_domain::deciding::Tree { commit: Some("c0ffee".to_owned()), changed });
    desk.ok("bob", "task.release", json!({ "task_id": "T-1", "reason": "the shift is over" }));
    assert_eq!(desk.status("T-1"), "todo");
    desk.ok("ana", "envelope.apply", begin("d-2", "T-2", "src/b"));
    // What waits for a task that is canceled concerns nobody else.
    desk.task("T-3", "src/c");
    desk.ok("ana", "task.add", json!({ "tasks": [{
        "task_id": "T-4", "title": "wait", "lock_scope": ["src/d"], "acceptance_criteria": ["it is done"], "dependencies": ["T-3"],
    }] }));
    desk.ok("ana", "task.cancel", json!({ "task_id": "T-3", "reason": "nobody needs it" }));
    assert_eq!(desk.look("ana", "reconcile", json!({}))["findings"][0]["code"], "DEPENDENCY_NOT_MET");
    desk.ok("ana", "envelope.apply", begin("d-3", "T-5", "src/e"));
}

/// Puts some values in the place of others, wherever they lie; where there is nothing to put, it takes them out.
fn changed(value: &mut serde_json::Value, change: &serde_json::Value) {
    match (value, change) {
        (serde_json::Value::Object(value), serde_json::Value::Object(change)) => {
            for (name, change) in change {
                if change.is_null() {
                    value.remove(name);
                } else {
                    changed(&mut value[name], change);
                }
            }
        }
        (serde_json::Value::Array(value), serde_json::Value::Array(change))
            if !change.is_empty() && !value.is_empty() =>
        {
            value.iter_mut().zip(change).for_each(|(value, change)| changed(value, change));
        }
        (value, change) => *value = change.clone(),
    }
}

#[test]
fn a_bundle_hands_the_run_over_and_an_old_one_does_not() {
    let (desk, run) = begun();
    desk.task("T-2", "src/b");
    desk.ok("bob", "task.block", json!({ "task_id": "T-2", "code": "DEPENDENCY_NOT_MET", "reason": "no server" }));
    let made = desk.look("ana", "bundle.make", json!({}));
    let bundle = &made["bundle"];
    assert_eq!(bundle["ledger"].as_array().unwrap().len(), 2);
    assert_eq!(bundle["open_blockers"][0]["reason"], "no server");
    assert_eq!(bundle["active_locks"], json!([{ "task_id": "T-1", "resource": "src/a", "active": true }]));
    // One that says otherwise than it is hands nothing over, whoever wrote it and whatever version it claims.
    let without_a_hold = json!({ "ledger": [{ "status": "done" }], "active_locks": [] });
    let lies = [
        ("objective", json!({ "objective": "delete everything" })),
        ("constraints", json!({ "constraints": ["anything goes"] })),
        ("ledger", json!({ "ledger": [{ "owner": "zoe" }] })),
        ("ledger", without_a_hold),
        ("open_blockers", json!({ "open_blockers": [{ "reason": "nothing is in the way" }] })),
        ("has not come to", json!({ "x_base_version": 1_000_000 })),
        ("objective", json!({ "objective": "delete everything", "x_base_version": null })),
    ];
    for (said, lie) in lies {
        let mut told = desk.look("ana", "bundle.make", json!({}))["bundle"].clone();
        changed(&mut told, &lie);
        let (code, reason) = desk.refused("zoe", "bundle.resume", json!({ "bundle": told }));
        assert_eq!(code, "CONCURRENCY_CONFLICT", "{lie}: {reason}");
        assert!(reason.contains(said), "{lie}: {reason}");
        assert_eq!(desk.look("ana", "run.show", json!({}))["orchestrator"], "ana", "{lie}");
    }
    let made = desk.look("ana", "bundle.make", json!({}));
    let bundle = &made["bundle"];
    let resumed = desk.ok("zoe", "bundle.resume", json!({ "bundle": bundle }));
    assert_eq!(resumed["run_id"], json!(run));
    assert_eq!(desk.look("ana", "run.show", json!({}))["orchestrator"], "zoe");
    assert_eq!(desk.code("yan", "bundle.resume", json!({ "bundle": bundle })), "CONCURRENCY_CONFLICT");
    let tokens = made["tokens"].as_u64().unwrap();
    let error = desk.engine.look(
        &desk.around,
        &countersign_engine::Call::declared("ana"),
        "bundle.make",
        &json!({ "max_tokens": tokens / 2 }).to_string(),
    );
    assert!(format!("{error:?}").contains("TokenLimitExceeded"), "{error:?}");
}
