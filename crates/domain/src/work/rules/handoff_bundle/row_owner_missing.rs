use crate::work::payload::HandoffBundle;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, is_blank, rule};

rule! {
    /// A task that is in progress has an owner.
    ///
    /// ## Why
    /// Somebody works on it and holds its locks. Whoever takes over must know who.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": " ",
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
    ///       "task_id": "T-13", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROW_OWNER_MISSING: HandoffBundle = {
        id: "row-owner-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a task is in progress and nobody has it",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    for (index, row) in it.record.ledger.iter().enumerate() {
        if row.status == TaskStatus::InProgress && is_blank(&row.owner) {
            let message = format!("{} is in progress, but has no owner", row.task_id);
            report.add(Pointer::at("/ledger").item(index).key("owner"), message, "name who works on it");
        }
    }
}
