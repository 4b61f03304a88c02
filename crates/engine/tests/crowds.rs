//! Runs with thousands of tasks: nothing is passed over in silence, and none of them is a dead end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod desk;

use desk::{Desk, result, spec};
use serde_json::json;

/// How many tasks come at once.
const AT_A_TIME: usize = 1000;

/// A run with as many tasks, all of which wait for the first.
fn crowd(count: usize) -> (Desk, String) {
    let desk = Desk::new();
    let run = desk.run();
    desk.task("T-1", "src/first");
    let rest: Vec<_> = (2..=count)
        .map(|n| {
            let mut task = spec(&format!("T-{n}"), &format!("src/{n}"));
            task["dependencies"] = json!(["T-1"]);
            task
        })
        .collect();
    for some in rest.chunks(AT_A_TIME) {
        desk.ok("ana", "task.add", json!({ "tasks": some }));
    }
    (desk, run)
}

#[test]
fn a_task_for_which_thousands_wait_can_be_done() {
    let (desk, run) = crowd(1200);
    desk.claim("bob", "T-1");
    let done = desk.ok("bob", "task.submit", json!({ "result": result(&run, "T-1", &["src/first"]) }));
    assert_eq!((&done["status"], done["frees"].as_array().unwrap().len()), (&json!("done"), 1199));
    assert_eq!(desk.look("bob", "task.next", json!({}))["task"]["task_id"], "T-2");
}

#[test]
fn a_run_with_thousands_of_tasks_is_reconciled_whole_and_can_be_given_up() {
    let (desk, run) = crowd(5100);
    let shown = desk.look("ana", "reconcile", json!({}));
    assert_eq!((&shown["clean"], &shown["tasks"]), (&json!(true), &json!(5100)));
    // The last of them wait in vain, and that is found.
    desk.ok("ana", "task.cancel", json!({ "task_id": "T-1", "reason": "not wanted" }));
    let shown = desk.look("ana", "reconcile", json!({}));
    let told: Vec<&str> =
        shown["findings"].as_array().unwrap().iter().filter_map(|it| it["task_id"].as_str()).collect();
    assert_eq!((told.len(), told.last()), (5099, Some(&"T-5100")));
    assert_eq!(desk.ok("ana", "run.cancel", json!({ "reason": "enough" }))["status"], "canceled");
    let metrics = &desk.look("ana", "run.show", json!({ "run_id": run }))["metrics"]["by_status"];
    assert_eq!((&metrics["canceled"], &metrics["todo"]), (&json!(5100), &json!(0)));
}
