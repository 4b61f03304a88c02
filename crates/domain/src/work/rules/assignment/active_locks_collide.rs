use crate::work::lock_collision;
use crate::work::payload::Assignment;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two tasks hold resources that overlap.
    ///
    /// ## Why
    /// A list of locks in which two tasks hold the same thing was not made from one ledger. Whoever relies on it gives
    /// the same file out a third time.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-9", "resource": "src/api/routes.rs", "active": true},
    ///     {"task_id": "T-7", "resource": "src/api", "active": true}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-9", "resource": "src/api/routes.rs", "active": true},
    ///     {"task_id": "T-7", "resource": "src/api", "active": false},
    ///     {"task_id": "T-9", "resource": "src/api", "active": true}
    ///   ]
    /// }
    /// ```
    pub static ACTIVE_LOCKS_COLLIDE: Assignment = {
        id: "active-locks-collide",
        code: LockConflict,
        severity: Error,
        summary: "two tasks hold the same resource",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    lock_collision::check(&it.record.active_locks, report);
}
