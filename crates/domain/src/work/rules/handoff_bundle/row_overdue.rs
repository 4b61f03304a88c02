use crate::work::payload::HandoffBundle;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, Timestamp, rule};
use jiff::SignedDuration;

rule! {
    /// A task whose worker was silent for longer than its timeout is blocked. What counts is the time at which the
    /// bundle was written, or else the time now.
    ///
    /// ## Why
    /// Nobody works on it any more, yet it keeps its locks.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "generated_at": "2026-02-07T18:30:00Z",
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high", "last_heartbeat_at": "2026-02-07T18:09:59Z"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "generated_at": "2026-02-07T18:30:00Z",
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high", "last_heartbeat_at": "2026-02-07T18:10:00Z"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_OVERDUE: HandoffBundle = {
        id: "row-overdue",
        code: TaskTimeout,
        severity: Warning,
        summary: "a task is in progress although its worker was silent for too long",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let written = it.record.generated_at.as_ref().map(Timestamp::instant);
    let Some(now) = written.or(it.outside.now) else { return };
    let rows = it.record.ledger.iter().enumerate();
    for (index, row) in rows.filter(|(_, row)| row.status == TaskStatus::InProgress) {
        let Some(heartbeat) = &row.last_heartbeat_at else { continue };
        let silence = now.duration_since(heartbeat.instant());
        if silence > SignedDuration::from_secs(row.timeout_seconds.get()) {
            let silence = silence.as_secs();
            let message = format!(
                "{} has been silent for {silence} s, its timeout is {} s",
                row.task_id,
                row.timeout_seconds.get()
            );
            let help = "release its locks and block it with TASK_TIMEOUT";
            report.add(Pointer::at("/ledger").item(index).key("last_heartbeat_at"), message, help);
        }
    }
}
