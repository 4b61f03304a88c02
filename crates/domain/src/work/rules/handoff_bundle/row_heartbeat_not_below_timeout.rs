use crate::work::heartbeat;
use crate::work::payload::HandoffBundle;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A worker must give a sign of life before its timeout is over.
    ///
    /// ## Why
    /// A task whose worker is silent for longer than the timeout is taken away. A worker that reports only when the
    /// timeout is over loses its task although it works.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 60, "heartbeat_interval_seconds": 90,
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
    ///       "lock_scope": ["src/money"], "timeout_seconds": 60, "heartbeat_interval_seconds": 30,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_HEARTBEAT_NOT_BELOW_TIMEOUT: HandoffBundle = {
        id: "row-heartbeat-not-below-timeout",
        code: SchemaInvalid,
        severity: Error,
        summary: "the heartbeat interval of a row is not below its timeout",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    for (index, row) in it.record.ledger.iter().enumerate() {
        let (timeout, interval) = (row.timeout_seconds.get(), row.heartbeat_interval_seconds.get());
        heartbeat::check_interval(timeout, interval, || Pointer::at("/ledger").item(index), report);
    }
}
