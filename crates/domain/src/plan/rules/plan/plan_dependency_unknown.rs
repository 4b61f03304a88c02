use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};
use std::collections::HashSet;

rule! {
    /// A task depends on tasks of the same plan, and not on itself.
    ///
    /// ## Why
    /// It would wait for ever.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-9"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": ["T-1"]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}], "depends_on": "T-1"}
    /// ]}
    /// ```
    pub static PLAN_DEPENDENCY_UNKNOWN: Plan = {
        id: "plan-dependency-unknown",
        code: DependencyNotMet,
        severity: Error,
        summary: "a task depends on one that the plan does not have",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let known: HashSet<&str> = it.record.tasks.iter().map(|task| task.id.as_str()).collect();
    for (index, task) in it.record.tasks.iter().enumerate() {
        for dependency in task.depends_on.iter().flat_map(|ids| ids.iter()) {
            let message = if *dependency == task.id {
                format!("{} depends on itself", task.id)
            } else if known.contains(dependency.as_str()) {
                continue;
            } else {
                format!("{} depends on {dependency}, which is not in the plan", task.id)
            };
            let help = "name a task of the plan, or leave the dependency out";
            report.add(Pointer::at("/tasks").item(index).key("depends_on"), message, help);
        }
    }
}
