use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that was done, failed or canceled in an earlier copy of the bundle still is.
    ///
    /// ## Why
    /// These states are final. Work that is wanted again gets a task of its own, so that what was found out about the
    /// first is not overwritten.
    ///
    /// ## Rejected
    /// ```json against
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "canceled", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "todo", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "canceled", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "canceled", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_REOPENED: HandoffBundle = {
        id: "row-reopened",
        code: InvalidTransition,
        severity: Error,
        summary: "a task that was finished is open again",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let Some(older) = it.older.and_then(<[_]>::first) else { return };
    let before = Firsts::new(older.ledger.len(), |index| &older.ledger[index].task_id);
    for (index, row) in it.record.ledger.iter().enumerate() {
        let status = before.find(&row.task_id).map(|row| older.ledger[row].status);
        if let Some(status) = status.filter(|status| status.is_final() && *status != row.status) {
            let message = format!("{} was {status} and is now {}", row.task_id, row.status);
            let help = "put the state back, and make a new task for new work";
            report.add(Pointer::at("/ledger").item(index).key("status"), message, help);
        }
    }
}
