//! How an attempt at a task ends without a result that counts: blocked, and tried again if the budget allows.

use super::event::{TASK_BLOCKED, TASK_REQUEUED, TASK_TIMED_OUT};
use super::picking::said;
use super::row::{TaskRow, task_of};
use super::task_state::TaskStatus;
use crate::deciding::{Desk, Happening, Hold, LeaseStep};
use countersign_contract::diagnostic::Code;
use serde_json::{Value, json};

/// How often one owner may fail at a task before somebody must decide how it goes on.
const FAILURES_MAX: u32 = 2;
/// How often a task is begun at all before that, whoever its owners are.
const ATTEMPTS_MAX: u32 = 6;

/// Whether trying again could help.
fn is_worth_a_retry(code: Code) -> bool {
    !matches!(code, Code::SchemaInvalid | Code::ScopeViolation | Code::NonCompliant)
}

/// Whether a task may be tried again after its owner failed once more.
pub(crate) fn has_budget(task: &TaskRow, owner: &str, code: Code) -> bool {
    let failures = task.failures.get(owner).copied().unwrap_or(0) + 1;
    let failures_max = task.spec.retries.map_or(FAILURES_MAX, |retries| retries.saturating_add(1));
    is_worth_a_retry(code) && failures < failures_max && task.tries() < ATTEMPTS_MAX.max(failures_max)
}

/// A worker says that an attempt failed.
pub(crate) fn fail(desk: &mut Desk, task: &TaskRow, hold: &Hold, code: Code, reason: &str) {
    fail_with(desk, task, hold, (code, reason), false);
}

/// An attempt failed with what nobody had the occasion to refuse; it counts as if it had been.
pub(crate) fn fail_as_found(desk: &mut Desk, task: &TaskRow, hold: &Hold, code: Code, reason: &str) {
    fail_with(desk, task, hold, (code, reason), true);
}

fn fail_with(desk: &mut Desk, task: &TaskRow, hold: &Hold, (code, reason): (Code, &str), found: bool) {
    let retry = has_budget(task, &hold.holder, code);
    let mut facts = json!({
        "code": code.as_str(), "escalated": !retry, "failed": true, "from": task.status.as_str(), "lease": hold.number,
        "owner": hold.holder, "reason": reason, "run": task.run, "task": task.task, "to": TaskStatus::Blocked.as_str(),
    });
    if found {
        facts["found"] = json!(true);
    }
    let lease = LeaseStep::Release { name: task.lease_name(), number: hold.number };
    desk.record(Happening::of_run(TASK_BLOCKED, &task.run, of_task(facts, task)).with_lease(lease));
    if retry {
        requeue(desk, task, true, "the retry budget allows one more attempt");
    }
}

/// An attempt turns out to have failed after its worker had stopped, while it waited for a person.
pub(crate) fn fail_afterwards(desk: &mut Desk, task: &TaskRow, owner: &str, code: Code, reason: &str) {
    let retry = has_budget(task, owner, code);
    let facts = json!({
        "code": code.as_str(), "escalated": !retry, "failed": true, "from": task.status.as_str(), "owner": owner,
        "reason": reason, "run": task.run, "task": task.task, "to": TaskStatus::Blocked.as_str(),
    });
    desk.record(Happening::of_run(TASK_BLOCKED, &task.run, of_task(facts, task)));
    if retry {
        requeue(desk, task, true, "the retry budget allows one more attempt");
    }
}

/// A worker was silent for too long. Its locks are free before the task is given out again.
pub(crate) fn time_out(desk: &mut Desk, task: &TaskRow, hold: &Hold) {
    let retry = has_budget(task, &hold.holder, Code::TaskTimeout);
    let reason = format!("{} gave no sign of life for {} s", hold.holder, task.timeout_seconds);
    let facts = json!({
        "code": Code::TaskTimeout.as_str(), "escalated": !retry, "failed": true, "from": task.status.as_str(),
        "last_heartbeat_at": said(hold.beat), "lease": hold.number, "lost": true, "owner": hold.holder, "reason": reason,
        "run": task.run, "task": task.task, "timeout_seconds": task.timeout_seconds, "to": TaskStatus::Blocked.as_str(),
    });
    let lease = LeaseStep::Expire { name: task.lease_name(), number: hold.number };
    desk.record(Happening::of_run(TASK_TIMED_OUT, &task.run, of_task(facts, task)).with_lease(lease));
    if retry {
        requeue(desk, task, true, "the retry budget allows one more attempt");
    }
}

/// Work on a task stops, whoever says so: from here on nobody holds its lease, and a worker who did not say so has lost it.
pub(crate) fn stop(desk: &mut Desk, task: &TaskRow, kind: &'static str, to: TaskStatus, mut facts: Value) {
    facts["from"] = json!(task.status.as_str());
    facts["to"] = json!(to.as_str());
    facts["run"] = json!(task.run);
    facts["task"] = json!(task.task);
    let hold = desk.lease(&task.lease_name()).filter(|_| task.status == TaskStatus::InProgress).cloned();
    let mut stopped = Happening::of_run(kind, &task.run, Value::Null);
    if let Some(hold) = hold {
        facts["owner"] = json!(hold.holder);
        facts["lease"] = json!(hold.number);
        facts["lost"] = json!(hold.holder != desk.moment().actor);
        let (name, number) = (task.lease_name(), hold.number);
        // One that has lapsed before cannot be given back any more.
        let alive = hold.deadline > desk.moment().now_ms;
        stopped.lease =
            Some(if alive { LeaseStep::Release { name, number } } else { LeaseStep::Expire { name, number } });
    }
    stopped.facts = of_task(facts, task);
    desk.record(stopped);
}

/// A blocked task can be given out again.
pub(crate) fn requeue(desk: &mut Desk, task: &TaskRow, retry: bool, reason: &str) {
    let facts = json!({
        "from": TaskStatus::Blocked.as_str(), "reason": reason, "retry": retry, "run": task.run, "task": task.task,
        "to": TaskStatus::Todo.as_str(),
    });
    desk.record(Happening::of_run(TASK_REQUEUED, &task.run, of_task(facts, task)));
}

/// The same, where what was claimed before still counts.
pub(crate) fn requeue_keeping(desk: &mut Desk, task: &TaskRow, reason: &str) {
    let facts = json!({
        "from": TaskStatus::Blocked.as_str(), "keeps": true, "reason": reason, "retry": false, "run": task.run,
        "task": task.task, "to": TaskStatus::Todo.as_str(),
    });
    desk.record(Happening::of_run(TASK_REQUEUED, &task.run, of_task(facts, task)));
}

/// A lease lapsed because the process that kept it alive was gone: that was neither a failure of its worker nor an attempt,
/// and the task is given out again.
pub(crate) fn excuse(desk: &mut Desk, task: &TaskRow, (lease, owner): &(u64, String), reason: &str) {
    let facts = json!({
        "excused": owner, "from": task.status.as_str(), "lease": lease, "reason": reason, "retry": false, "run": task.run,
        "task": task.task, "to": TaskStatus::Todo.as_str(),
    });
    desk.record(Happening::of_run(TASK_REQUEUED, &task.run, of_task(facts, task)));
}

/// The facts of an event of a task. One of a task with gates says so, since its promise stands or falls with it.
pub(crate) fn of_task(mut facts: Value, task: &TaskRow) -> Value {
    if task.gated {
        facts["gated"] = json!(true);
    }
    facts
}

/// Takes a lease that has lapsed as lapsed, whether or not somebody was awake to see it. Says whether it had.
pub(crate) fn settle(desk: &mut Desk, task: &TaskRow) -> bool {
    let now = desk.moment().now_ms;
    if task.status != TaskStatus::InProgress {
        return false;
    }
    let Some(hold) = desk.lease(&task.lease_name()).filter(|hold| hold.deadline <= now).cloned() else { return false };
    desk.settle(|desk| time_out(desk, task, &hold));
    true
}

/// The same for a lease by its name, for whoever looks at what is due.
pub fn lapse(desk: &mut Desk, lease: &str) {
    let Some((run, task)) = lease.split_once('/') else { return };
    if let Some(task) = task_of(desk.entity(&super::row::task_key(run, task))) {
        settle(desk, &task);
    }
}
