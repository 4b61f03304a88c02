//! How a task becomes done: here, and nowhere else.

use super::event::TASK_COMPLETED;
use super::row::TaskRow;
use super::task_state::TaskStatus;
use super::{attempt, indexes};
use crate::deciding::{Desk, Happening, Hold, LeaseStep, Need, Refusal};
use countersign_contract::diagnostic::Code;
use serde_json::json;

/// How many tasks may wait for one.
const DEPENDENTS_MAX: usize = 10_000;

/// What makes a task done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done<'a> {
    /// How sure it is.
    pub(crate) assurance: &'a str,
    /// Why.
    pub(crate) reason: &'a str,
    /// The event that brought the result.
    pub(crate) result: u64,
    /// The commit in which it is part of the tree.
    pub(crate) commit: Option<&'a str>,
}

/// What must be seen before a task can be done: who waits for it.
pub(crate) fn needs(run: &str, task: &str) -> Need {
    Need::Range(indexes::dependents(run, task, DEPENDENTS_MAX + 1))
}

/// Who waits for a task, and no longer does when it is done. Asked before anything is recorded, nothing has to be folded for it.
pub(crate) fn frees(desk: &Desk, task: &TaskRow) -> Result<Vec<String>, Refusal> {
    let range = indexes::dependents(&task.run, &task.task, DEPENDENTS_MAX + 1);
    let frees: Vec<String> =
        desk.range(&range).filter_map(|(_, key)| Some(key.id.split_once('/')?.1.to_owned())).collect();
    if frees.len() > DEPENDENTS_MAX {
        let reason = format!("more than {DEPENDENTS_MAX} tasks wait for {}", task.task);
        let help = "put a task between that they wait for instead";
        return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(&task.run));
    }
    Ok(frees)
}

/// A task is done, its lease has ended, and whoever waited for it waits no more.
pub(crate) fn complete(desk: &mut Desk, task: &TaskRow, hold: &Hold, frees: &[String], done: &Done<'_>) {
    let mut facts = json!({
        "assurance": done.assurance, "attempt": task.attempt, "frees": frees, "from": task.status.as_str(),
        "lease": hold.number, "owner": hold.holder, "reason": done.reason, "result": done.result,
        "retried": !task.failures.is_empty(), "run": task.run, "task": task.task, "to": TaskStatus::Done.as_str(),
    });
    if let Some(commit) = done.commit {
        facts["commit"] = json!(commit);
    }
    let lease = LeaseStep::Release { name: task.lease_name(), number: hold.number };
    desk.record(Happening::of_run(TASK_COMPLETED, &task.run, attempt::of_task(facts, task)).with_lease(lease));
}
