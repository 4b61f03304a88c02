use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every task of an earlier copy of the bundle still has its row.
    ///
    /// ## Why
    /// The operator ledger keeps what became of every task. A row that is gone takes its reason with it.
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
    pub static ROW_LOST: HandoffBundle = {
        id: "row-lost",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task of an earlier copy has no row any more",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let Some(older) = it.older.and_then(<[_]>::first) else { return };
    let rows = &it.record.ledger;
    let kept = Firsts::new(rows.len(), |index| &rows[index].task_id);
    for row in older.ledger.iter().filter(|row| kept.find(&row.task_id).is_none()) {
        let message = format!("{} had a row in the earlier copy and has none now", row.task_id);
        report.add(Pointer::at("/ledger"), message, "put the row back; a task that is not wanted is `canceled`");
    }
}
