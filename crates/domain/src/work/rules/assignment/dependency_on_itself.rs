use crate::work::payload::Assignment;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task does not wait for itself.
    ///
    /// ## Why
    /// It would never start.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"task_id": "T-12", "dependencies": ["T-12"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"task_id": "T-12", "dependencies": ["T-9"]}}
    /// ```
    pub static DEPENDENCY_ON_ITSELF: Assignment = {
        id: "dependency-on-itself",
        code: DependencyNotMet,
        severity: Error,
        summary: "a task depends on itself",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    for (index, _) in task.dependencies.iter().enumerate().filter(|(_, needs)| **needs == task.task_id) {
        let message = format!("{} waits for itself", task.task_id);
        report.add(Pointer::at("/task/dependencies").item(index), message, "name the task that comes before it");
    }
}
