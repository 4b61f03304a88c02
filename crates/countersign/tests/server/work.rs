//! Work to be done over HTTP.

use super::super::house;
use super::{Client, Events, Server, owner, project};
use serde_json::{Value, json};

/// A task with a path of its own.
pub fn task(id: &str, path: &str) -> Value {
    json!({ "task_id": id, "title": "do it", "lock_scope": [path], "acceptance_criteria": ["it is done"] })
}

/// A run with so many tasks, each with a file of its own.
pub fn run_with(client: &mut Client, tasks: usize) -> String {
    let run =
        client.ask("run.open", &json!({ "objective": "ship it" })).answer()["run_id"].as_str().unwrap().to_owned();
    let tasks: Vec<Value> = (1..=tasks).map(|n| task(&format!("T-{n}"), &format!("src/{n}.rs"))).collect();
    client.ask("task.add", &json!({ "run_id": run, "tasks": tasks })).answer();
    run
}

/// A project that is served, with a run of one task in it, and its owner.
pub fn served() -> (house::House, Server, Client) {
    let house = project();
    let server = Server::start(&house, &[]);
    let mut client = server.client(&owner(&house));
    run_with(&mut client, 1);
    (house, server, client)
}

/// Somebody who listens and has heard everything that `served` did.
pub fn listening(client: &Client) -> Events {
    let mut live = client.listen("/v1/events?since=3", &[]);
    assert_eq!(live.next().map(|it| it.0), Some(3));
    live
}

/// A result that passes every check of a task that `run_with` made.
pub fn result(run: &str, task: &str) -> Value {
    let number = task.strip_prefix("T-").unwrap();
    house::document(
        "subagent_result",
        json!({
            "run_id": run, "task_id": task, "worklog_path": format!("worklogs/{task}.jsonl"),
            "changes": [{ "resource": format!("src/{number}.rs"), "action": "edit", "evidence": "it is there" }],
            "acceptance_check": [{ "criterion": "it is done", "status": "pass", "evidence": "seen" }],
        }),
    )
}

/// Looks until something is so. A test that waits in vain is given up.
pub fn wait_until(mut so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !so() {
        assert!(std::time::Instant::now() < end, "it was waited for in vain");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
