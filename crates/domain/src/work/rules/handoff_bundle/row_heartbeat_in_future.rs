use crate::work::heartbeat;
use crate::work::payload::HandoffBundle;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A sign of life lies in the past. Clocks may differ by 30 seconds.
    ///
    /// ## Why
    /// A worker whose last sign of life lies in the future is never taken to be silent.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"now": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high", "last_heartbeat_at": "2026-02-07T18:30:31Z"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"now": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high", "last_heartbeat_at": "2026-02-07T18:30:30Z"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_HEARTBEAT_IN_FUTURE: HandoffBundle = {
        id: "row-heartbeat-in-future",
        code: SchemaInvalid,
        severity: Error,
        summary: "the last sign of life of a row lies in the future",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    for (index, row) in it.record.ledger.iter().enumerate() {
        let pointer = || Pointer::at("/ledger").item(index).key("last_heartbeat_at");
        heartbeat::check_past(row.last_heartbeat_at.as_ref(), it.outside.now, pointer, report);
    }
}
