use crate::work::lock_collision;
use crate::work::payload::OrchestratorOutput;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two tasks hold resources that overlap.
    ///
    /// ## Why
    /// After such a turn two workers change the same files.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-12", "resource": "src/money", "active": true},
    ///     {"task_id": "T-9", "resource": "src", "active": true}
    ///   ],
    ///   "assignments": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-12", "resource": "src/money", "active": true},
    ///     {"task_id": "T-9", "resource": "src", "active": false}
    ///   ],
    ///   "assignments": []
    /// }
    /// ```
    pub static OUTPUT_LOCKS_COLLIDE: OrchestratorOutput = {
        id: "output-locks-collide",
        code: LockConflict,
        severity: Error,
        summary: "two tasks hold the same resource",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    lock_collision::check(&it.record.active_locks, report);
}
