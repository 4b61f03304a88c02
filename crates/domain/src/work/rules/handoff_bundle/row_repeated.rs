use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Each task has one row in the ledger.
    ///
    /// ## Why
    /// Of two rows one is out of date, and nobody can tell which.
    ///
    /// ## Rejected
    /// ```json rejected also:lock-holder-idle also:blocked-row-unexplained also:rows-collide
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "blocked", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-13", "title": "Round invoice totals", "status": "todo", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_REPEATED: HandoffBundle = {
        id: "row-repeated",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task has two rows in the ledger",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let rows = &it.record.ledger;
    for (later, first) in Firsts::new(rows.len(), |index| &rows[index].task_id).repeats() {
        let list = Pointer::at("/ledger");
        let place = report.place(list.clone().item(first).key("task_id"));
        let message = format!("{} has two rows", rows[later].task_id);
        let found = report.add(list.item(later).key("task_id"), message, "keep the row that is true");
        found.label(place, "first here");
    }
}
