//! What is refused is counted in the run that it is about, under its own code; and whoever works on a task is told what was wrong
//! with the last result that they brought.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use desk::{Desk, result, spec};
use serde_json::{Value, json};

/// A run with T-1, which bob works on.
fn begun() -> (Desk, String) {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/a");
    desk.claim("bob", "T-1");
    (desk, run)
}

fn metrics(desk: &Desk, run: &str) -> Value {
    desk.look("ana", "run.show", json!({ "run_id": run }))["metrics"].clone()
}

fn without(mut document: Value, field: &str) -> Value {
    document.as_object_mut().unwrap().remove(field);
    document
}

fn with(mut document: Value, field: &str, value: Value) -> Value {
    document[field] = value;
    document
}

#[test]
fn a_refusal_counts_in_the_run_that_it_is_about() {
    let good = |run: &str| result(run, "T-1", &["src/a"]);
    let colliding = || with(spec("T-9", "src/x"), "forbidden_scope", json!(["src"]));
    // Of each: who, the command, the request, its code, and whether it is about the run.
    type Case = (&'static str, &'static str, fn(&str, Value) -> Value, &'static str, bool);
    let cases: Vec<(Value, Case)> = vec![
        (json!(null), ("bob", "task.claim", |run, _| json!({ "run_id": run, "task_id": 7 }), "SCHEMA_INVALID", true)),
        (json!(null), ("bob", "task.claim", |_, _| json!({ "task_id": 7 }), "SCHEMA_INVALID", true)),
        (
            colliding(),
            ("ana", "task.add", |run, task| json!({ "run_id": run, "tasks": [task] }), "SCOPE_VIOLATION", true),
        ),
        (colliding(), ("ana", "task.add", |_, task| json!({ "tasks": [task] }), "SCOPE_VIOLATION", true)),
        (json!(null), ("bob", "task.claim", |_, _| json!({ "run_id": "none", "task_id": 7 }), "SCHEMA_INVALID", false)),
        (json!(null), ("ana", "record.keep", |_, _| json!({}), "MISSING_REQUIRED_INPUT", false)),
    ];
    for (given, (who, id, request, code, counts)) in cases {
        let (desk, run) = begun();
        let request = request(&run, given);
        assert_eq!(desk.code(who, id, request.clone()), code, "{request}");
        let expected = if counts { json!({ code: 1 }) } else { json!({}) };
        let shown = metrics(&desk, &run);
        assert_eq!(shown["denials"], expected, "{id} {request}");
        // It was no result.
        assert_eq!(shown["packet_pass_rate"], json!(null), "{id} {request}");
        let told = desk.events().last().unwrap().1.get("run").cloned();
        assert_eq!(told, counts.then(|| json!(run)), "{id} {request}");
    }
    type Spoil = fn(Value) -> Value;
    let results: Vec<(Spoil, &str)> = vec![
        (|it| without(it, "status"), "MISSING_REQUIRED_INPUT"),
        (|it| with(it, "schema_version", json!("9.0.0")), "UNKNOWN_SCHEMA_VERSION"),
        (|it| with(it, "status", json!("perfect")), "SCHEMA_INVALID"),
        (|it| json!(without(it, "status").to_string()), "MISSING_REQUIRED_INPUT"),
        (|it| with(it, "changes", json!([{ "resource": "docs/x", "action": "edit" }])), "SCOPE_VIOLATION"),
    ];
    for (spoiled, code) in results {
        let (desk, run) = begun();
        let request = json!({ "result": spoiled(good(&run)) });
        assert_eq!(desk.code("bob", "task.submit", request.clone()), code, "{request}");
        let shown = metrics(&desk, &run);
        assert_eq!((&shown["denials"], &shown["packet_pass_rate"]), (&json!({ code: 1 }), &json!(0.0)), "{request}");
        desk.ok("bob", "task.submit", json!({ "result": good(&run) }));
        assert_eq!(metrics(&desk, &run)["packet_pass_rate"], json!(0.5), "{request}");
    }
}

#[test]
fn a_result_from_somebody_else_says_nothing_about_results() {
    let (desk, run) = begun();
    let refused = desk.code("cem", "task.submit", json!({ "result": result(&run, "T-1", &["src/a"]) }));
    assert_eq!(refused, "CONCURRENCY_CONFLICT");
    let shown = metrics(&desk, &run);
    assert_eq!((&shown["denials"][&refused], &shown["packet_pass_rate"]), (&json!(1), &json!(null)));
}

#[test]
fn what_is_counted_and_not_recorded_counts_under_its_own_code() {
    let (desk, run) = begun();
    desk.task("T-2", "src/a/inner");
    let locked = || assert_eq!(desk.code("cem", "task.claim", json!({ "task_id": "T-2" })), "LOCK_CONFLICT");
    let absent = || assert_eq!(desk.code("cem", "task.claim", json!({ "task_id": "T-7" })), "DEPENDENCY_NOT_MET");
    let unfit = || {
        let request = json!({ "result": without(result(&run, "T-2", &["src/a"]), "status") });
        assert_eq!(desk.code("cem", "task.submit", request), "MISSING_REQUIRED_INPUT");
    };
    let before = desk.head();
    (0..20).for_each(|_| absent());
    (0..3).for_each(|_| locked());
    (0..4).for_each(|_| unfit());
    assert_eq!(desk.head(), before + 20, "the rest is only counted");
    // In another run they have a count of their own.
    let other = desk.run();
    let elsewhere = json!({ "run_id": other, "task_id": "T-1" });
    assert_eq!(desk.code("cem", "task.claim", elsewhere), "DEPENDENCY_NOT_MET");
    assert_eq!(metrics(&desk, &other)["denials"], json!({ "DEPENDENCY_NOT_MET": 1 }));
    desk.ok("ana", "run.cancel", json!({ "run_id": other, "reason": "not needed" }));
    desk.pass(60);
    absent();
    let shown = metrics(&desk, &run);
    let expected = json!({ "DEPENDENCY_NOT_MET": 21, "LOCK_CONFLICT": 3, "MISSING_REQUIRED_INPUT": 4 });
    assert_eq!(shown["denials"], expected);
    assert_eq!((&shown["lock_conflicts"], &shown["packet_pass_rate"]), (&json!(3), &json!(0.0)));
    // Nothing is counted twice.
    desk.pass(60);
    absent();
    assert_eq!(metrics(&desk, &run)["denials"]["MISSING_REQUIRED_INPUT"], 4);
    assert_eq!(desk.events().last().unwrap().1["unrecorded"], 0);
}

#[test]
fn a_worker_sees_what_was_wrong_with_the_last_result() {
    let (desk, run) = begun();
    let refused = |task: &str| {
        let shown = desk.look("bob", "task.show", json!({ "run_id": run, "task_id": task }));
        (shown["refused_result"].clone(), shown["task"]["version"].clone())
    };
    let (none, version) = refused("T-1");
    assert_eq!(none, json!(null));
    let good = result(&run, "T-1", &["src/a"]);
    let submit = |who: &str, document: &Value| desk.code(who, "task.submit", json!({ "result": document }));
    // What somebody else brings is not the worker's.
    submit("cem", &without(good.clone(), "status"));
    assert_eq!(refused("T-1").0, json!(null));
    submit("bob", &without(good.clone(), "status"));
    let (shown, after) = refused("T-1");
    assert_eq!((&shown["code"], &after), (&json!("MISSING_REQUIRED_INPUT"), &version), "the task has not changed");
    let findings = shown["findings"].to_string();
    assert!(findings.contains("/status") || findings.contains("`status`"), "{shown}");
    // The last one counts.
    submit("bob", &with(good.clone(), "changes", json!([{ "resource": "docs/x", "action": "edit" }])));
    assert_eq!(refused("T-1").0["code"], "SCOPE_VIOLATION");
    // Of another attempt it is not said any more, nor of what is done.
    desk.ok("bob", "task.release", json!({ "task_id": "T-1", "reason": "later" }));
    assert_eq!(refused("T-1").0, json!(null));
    desk.claim("bob", "T-1");
    assert_eq!(refused("T-1").0, json!(null));
    submit("bob", &without(good.clone(), "status"));
    desk.ok("bob", "task.submit", json!({ "result": good }));
    assert_eq!(refused("T-1").0, json!(null));
}

#[test]
fn a_task_that_is_finished_is_waited_for_by_nobody() {
    let desk = Desk::new();
    desk.run();
    desk.task("T-1", "src/a");
    desk.ok("ana", "task.add", json!({ "tasks": [with(spec("T-2", "src/b"), "dependencies", json!(["T-1"]))] }));
    desk.task("T-3", "src/a/inner");
    for task in ["T-2", "T-3"] {
        desk.ok("ana", "task.cancel", json!({ "task_id": task, "reason": "not wanted" }));
    }
    desk.claim("bob", "T-1");
    for (task, code) in [("T-2", "DEPENDENCY_NOT_MET"), ("T-3", "LOCK_CONFLICT")] {
        let Err(countersign_engine::Failure::Refused(refusal)) =
            desk.ask("cem", "task.claim", json!({ "task_id": task }))
        else {
            panic!("{task} was not refused");
        };
        assert_eq!(refusal.code.as_str(), code);
        assert!(refusal.reason.starts_with(&format!("{task} is canceled and stays so")), "{}", refusal.reason);
        assert!(refusal.help.contains("add a new task") && !refusal.help.contains("first"), "{}", refusal.help);
    }
}
