use crate::work::lock_collision;
use crate::work::payload::HandoffBundle;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two tasks hold resources that overlap.
    ///
    /// ## Why
    /// A list of locks in which two tasks hold the same thing was not made from one ledger. Whoever takes over from it
    /// gives the same file out a third time.
    ///
    /// ## Rejected
    /// ```json rejected also:lock-holder-idle
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-12", "resource": "src/money", "active": true},
    ///     {"task_id": "T-13", "resource": "src", "active": true}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-12", "resource": "src/money", "active": true},
    ///     {"task_id": "T-9", "resource": "src", "active": false}
    ///   ]
    /// }
    /// ```
    pub static BUNDLE_LOCKS_COLLIDE: HandoffBundle = {
        id: "bundle-locks-collide",
        code: LockConflict,
        severity: Error,
        summary: "two tasks hold the same resource",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    lock_collision::check(&it.record.active_locks, report);
}
