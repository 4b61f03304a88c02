use crate::work::payload::HandoffBundle;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every resource of a row or a lock lies in the project, once its `.` and `..` are resolved.
    ///
    /// ## Why
    /// Resources are compared below the root of the project. One that leads out of it, or that hides a drive or white
    /// space behind a `.`, names a place that nobody has locked; until it is mended it counts as the whole tree.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [
    ///   {"task_id": "T-12", "resource": "src/money", "active": true},
    ///   {"task_id": "T-9", "resource": "src/../../api", "active": false}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"active_locks": [
    ///   {"task_id": "T-12", "resource": "src/money", "active": true},
    ///   {"task_id": "T-9", "resource": "src/../api", "active": false}
    /// ]}
    /// ```
    pub static BUNDLE_RESOURCE_UNUSABLE: HandoffBundle = {
        id: "bundle-resource-unusable",
        code: SchemaInvalid,
        severity: Error,
        summary: "a resource leads out of the project",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    for (row, holder) in it.record.ledger.iter().enumerate() {
        for (index, resource) in holder.lock_scope.iter().enumerate() {
            resource.check(|| Pointer::at("/ledger").item(row).key("lock_scope").item(index), report);
        }
    }
    for (index, lock) in it.record.active_locks.iter().enumerate() {
        lock.resource.check(|| Pointer::at("/active_locks").item(index).key("resource"), report);
    }
}
