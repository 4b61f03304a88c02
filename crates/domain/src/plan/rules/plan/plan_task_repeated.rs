use crate::plan::payload::Plan;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};
use std::collections::HashMap;

rule! {
    /// Each task of a plan has an id of its own.
    ///
    /// ## Why
    /// Everything that is recorded of a task is recorded under its id.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"tasks": [
    ///   {"id": "T-1", "title": "Round half to even", "agent": "coder", "lock_scope": ["billing"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]},
    ///   {"id": "T-2", "title": "Round half to even", "agent": "coder", "lock_scope": ["docs"],
    ///    "acceptance": [{"text": "tests pass", "check": {"test": ["pytest"]}}]}
    /// ]}
    /// ```
    pub static PLAN_TASK_REPEATED: Plan = {
        id: "plan-task-repeated",
        code: SchemaInvalid,
        severity: Error,
        summary: "two tasks have one id",
        check: check,
    }
}

fn check(it: &Subject<'_, Plan>, report: &mut Report) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (index, task) in it.record.tasks.iter().enumerate() {
        let Some(first) = known.get(task.id.as_str()).copied() else {
            known.insert(task.id.as_str(), index);
            continue;
        };
        let other = report.place(Pointer::at("/tasks").item(first).key("id"));
        let message = format!("there is a task {} already", task.id);
        let found = report.add(Pointer::at("/tasks").item(index).key("id"), message, "give one of the two another id");
        found.label(other, "the first one");
    }
}
