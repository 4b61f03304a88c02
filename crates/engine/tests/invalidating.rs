//! A command names every view that shows something else after it. Whoever keeps a page or a cache relies on that.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use countersign_engine::{COMMANDS, Call};
use desk::{Desk, result, spec};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What can be asked about work: each view with a question that has an answer in some of the states below.
fn questions(run: &str) -> Vec<(&'static str, Value)> {
    let mut questions: Vec<(&str, Value)> = vec![
        ("run.list", json!({})),
        ("run.show", json!({ "run_id": run })),
        ("task.list", json!({ "run_id": run })),
        ("task.graph", json!({ "run_id": run })),
        ("task.next", json!({ "run_id": run })),
        ("lock.list", json!({})),
        ("lock.mine", json!({})),
        ("inbox.list", json!({})),
        ("effect.list", json!({ "run_id": run })),
        ("bundle.make", json!({ "run_id": run })),
        ("reconcile", json!({ "run_id": run })),
    ];
    for task in ["T-1", "T-2", "T-3"] {
        let of_task = json!({ "run_id": run, "task_id": task });
        let views = ["task.show", "task.assignment", "worklog.show", "gate.status"];
        questions.extend(views.map(|view| (view, of_task.clone())));
    }
    for path in ["src/a", "src/b", "docs"] {
        questions.extend(["lock.who", "lock.may"].map(|view| (view, json!({ "path": path }))));
    }
    questions
}

/// What every view shows to a worker. One that shows nothing says why, which counts as well.
fn shown(desk: &Desk, run: &str) -> BTreeMap<(&'static str, String), String> {
    let look = |(view, question): (&'static str, Value)| {
        let call = Call::declared("bob");
        let found = desk.engine.look(&desk.around, &call, view, &question.to_string());
        ((view, question.to_string()), found.map_or_else(|failure| format!("{failure:?}"), |value| value.to_string()))
    };
    questions(run).into_iter().map(look).collect()
}

#[test]
fn what_a_command_changes_is_among_the_views_that_it_names() {
    let desk = Desk::new();
    let run = "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4";
    let task = |task: &str| json!({ "run_id": run, "task_id": task });
    let with = |mut request: Value, more: &Value| {
        countersign_contract::prove::merge(&mut request, more);
        request
    };
    let after = |id: &str, path: &str, other: &str| with(spec(id, path), &json!({ "dependencies": [other] }));
    let blocked = json!({ "code": "DEPENDENCY_NOT_MET", "reason": "the scheme is missing" });
    let line = json!({ "action": "edit", "decision": "a decimal type", "result": "it works", "next_step": "submit" });
    let tasks = [spec("T-1", "src/a"), spec("T-2", "src/b"), after("T-3", "docs", "T-1")];
    let script: Vec<(&str, &str, Value)> = vec![
        ("ana", "run.open", json!({ "run_id": run, "objective": "Round money half to even" })),
        ("ana", "task.add", json!({ "run_id": run, "tasks": tasks })),
        ("bob", "task.claim", task("T-1")),
        ("bob", "task.heartbeat", task("T-1")),
        ("bob", "task.extend", with(task("T-1"), &json!({ "timeout_seconds": 900, "reason": "it takes long" }))),
        ("bob", "worklog.add", with(task("T-1"), &line)),
        ("bob", "task.block", with(task("T-1"), &blocked)),
        ("ana", "task.unblock", with(task("T-1"), &json!({ "reason": "it is there now" }))),
        ("bob", "task.claim", task("T-1")),
        ("bob", "task.release", with(task("T-1"), &json!({ "reason": "another comes first" }))),
        ("bob", "task.claim", task("T-1")),
        ("ana", "task.reassign", with(task("T-1"), &json!({ "owner": "cem", "reason": "bob is ill" }))),
        ("bob", "task.claim", task("T-2")),
        ("bob", "task.fail", with(task("T-2"), &json!({ "code": "ACCEPTANCE_FAILED", "reason": "no way" }))),
        (
            "ana",
            "task.replan",
            json!({ "run_id": run, "task": after("T-3", "docs/money", "T-1"), "reason": "smaller" }),
        ),
        ("cem", "task.submit", with(task("T-1"), &json!({ "result": result(run, "T-1", &["src/a"]) }))),
        ("ana", "task.cancel", with(task("T-3"), &json!({ "reason": "not needed" }))),
        ("ana", "run.close", json!({ "run_id": run })),
    ];
    let mut faults = BTreeSet::new();
    let mut before = shown(&desk, run);
    for (actor, id, request) in script {
        // Time passes, so that a sign of life is another than the last.
        desk.pass(1);
        before = if id == "task.heartbeat" { before } else { shown(&desk, run) };
        match desk.ask(actor, id, request.clone()) {
            Ok(_) => {}
            Err(failure) => panic!("{id} {request}: {failure:?}"),
        }
        let now = shown(&desk, run);
        let named = COMMANDS.iter().find(|row| row.info.id == id).unwrap().info.invalidates;
        for ((view, question), value) in &now {
            if before[&(*view, question.clone())] != *value && !named.contains(view) {
                faults.insert(format!("{id} changes {view}, and does not name it"));
            }
        }
        before = now;
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
