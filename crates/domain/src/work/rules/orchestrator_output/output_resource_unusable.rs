use crate::work::payload::OrchestratorOutput;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every lock of a turn is on a resource in the project, once its `.` and `..` are resolved.
    ///
    /// ## Why
    /// Resources are compared below the root of the project. One that leads out of it, or that hides a drive or white
    /// space behind a `.`, names a place that nobody has locked; until it is mended it counts as the whole tree.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-9", "resource": "src/../../api", "active": false}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"active_locks": [{"task_id": "T-9", "resource": "src/../api", "active": false}]}
    /// ```
    pub static OUTPUT_RESOURCE_UNUSABLE: OrchestratorOutput = {
        id: "output-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a resource leads out of the project",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    for (index, lock) in it.record.active_locks.iter().enumerate() {
        lock.resource.check(|| Pointer::at("/active_locks").item(index).key("resource"), report);
    }
}
