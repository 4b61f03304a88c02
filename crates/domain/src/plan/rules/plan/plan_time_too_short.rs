use crate::plan::payload::{Plan, PlannedTask};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A timeout is at least 30 seconds, a heartbeat at least 5 and below its timeout; the wall time is at least as long as
    /// the longest timeout, and there are as many attempts as tasks.
    ///
    /// ## Why
    /// The run would end before it could succeed.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "timeout": "10s"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "timeout": "1m", "heartbeat": "2m"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"budgets": {"wall_time": "5m"}}
    /// ```
    /// ```json rejected
    /// {"budgets": {"attempts": 1}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"budgets": {"wall_time": "2h", "attempts": 3}, "tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "timeout": "10m", "heartbeat": "1m"}
    /// ]}
    /// ```
    pub static PLAN_TIME_TOO_SHORT: Plan = {
        id: "plan-time-too-short",
        code: SchemaInvalid,
        severity: Error,
        summary: "a time or a budget is below what a task takes at least",
        check: check,
    }
}

const TIMEOUT_MIN: i64 = 30;
const HEARTBEAT_MIN: i64 = 5;
const TIMEOUT: i64 = 20 * 60;

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let mut longest: Option<(i64, &PlannedTask)> = None;
    for (index, task) in it.record.tasks.iter().enumerate() {
        let at = |key: &'static str| Pointer::at("/tasks").item(index).key(key);
        let timeout = task.timeout.as_ref().map_or(TIMEOUT, |span| span.seconds());
        if longest.is_none_or(|(most, _)| most < timeout) {
            longest = Some((timeout, task));
        }
        if timeout < TIMEOUT_MIN {
            let message = format!("{} may be silent for {timeout} s, which is less than {TIMEOUT_MIN} s", task.id);
            report.add(at("timeout"), message, "allow at least 30s");
        }
        let Some(heartbeat) = task.heartbeat.as_ref().map(|span| span.seconds()) else { continue };
        if heartbeat < HEARTBEAT_MIN || heartbeat >= timeout {
            let message = format!("a sign of life every {heartbeat} s does not fit a timeout of {timeout} s");
            report.add(at("heartbeat"), message, "ask for one at least twice within the timeout, and not below 5s");
        }
    }
    let Some(budgets) = &it.record.budgets else { return };
    if let (Some(wall), Some((longest, task))) = (&budgets.wall_time, longest)
        && wall.seconds() < longest
    {
        let (wall, longest) = (said(wall.seconds()), said(longest));
        let unsaid = if task.timeout.is_none() { ", which is its timeout where the plan says none" } else { "" };
        let message = format!(
            "the run would be stopped after {wall}, and its task {} alone may be silent for {longest}{unsaid}",
            task.id
        );
        let help = format!("allow a wall_time of at least {longest}, or give {} a timeout of at most {wall}", task.id);
        report.add(Pointer::at("/budgets/wall_time"), message, help);
    }
    let tasks = it.record.tasks.len() as i64;
    if let Some(attempts) = budgets.attempts.map(|it| it.get()).filter(|attempts| *attempts < tasks) {
        let message = format!("{attempts} attempts are not enough for {tasks} tasks");
        report.add(Pointer::at("/budgets/attempts"), message, "allow at least one for each task");
    }
    if let Some(money) = budgets.money.filter(|money| *money <= 0.0) {
        let message = format!("with {money} dollars nothing can be done");
        report.add(Pointer::at("/budgets/money"), message, "allow more, or leave it out");
    }
}

/// A length of time as it is written in a plan.
fn said(seconds: i64) -> String {
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect()
}
