use crate::work::payload::Assignment;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every resource of an assignment lies in the project, once its `.` and `..` are resolved.
    ///
    /// ## Why
    /// Resources are compared below the root of the project. One that leads out of it, or that hides a drive or white
    /// space behind a `.`, names a place that nobody has locked; until it is mended it counts as the whole tree.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-9", "resource": "src/../../api", "active": false}]}
    /// ```
    /// ```json rejected also:lock-scope-forbidden also:worklog-path-forbidden
    /// {"task": {"forbidden_scope": ["./C:/secrets"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"forbidden_scope": ["vendor", "docs/../other"]}}
    /// ```
    pub static ASSIGNMENT_RESOURCE_UNUSABLE: Assignment = {
        id: "assignment-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a resource leads out of the project",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let task = &it.record.task;
    for (index, resource) in task.lock_scope.iter().enumerate() {
        resource.check(|| Pointer::at("/task/lock_scope").item(index), report);
    }
    for (index, resource) in task.forbidden_scope.iter().enumerate() {
        resource.check(|| Pointer::at("/task/forbidden_scope").item(index), report);
    }
    for (index, lock) in it.record.active_locks.iter().enumerate() {
        lock.resource.check(|| Pointer::at("/active_locks").item(index).key("resource"), report);
    }
}
