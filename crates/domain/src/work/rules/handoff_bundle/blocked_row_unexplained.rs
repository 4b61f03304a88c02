use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every task that is blocked has an open blocker.
    ///
    /// ## Why
    /// Without one nobody knows what has to happen before the task can go on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "blocked", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "blocked", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": [],
    ///   "active_locks": [],
    ///   "open_blockers": [
    ///     {"task_id": "T-12", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}
    ///   ]
    /// }
    /// ```
    pub static BLOCKED_ROW_UNEXPLAINED: HandoffBundle = {
        id: "blocked-row-unexplained",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task is blocked and no blocker says why",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, open_blockers, .. } = it.record;
    let blocked = ledger.iter().enumerate().filter(|(_, row)| row.status == TaskStatus::Blocked);
    let blockers = Firsts::new(open_blockers.len(), |index| &open_blockers[index].task_id);
    for (index, row) in blocked.filter(|(_, row)| blockers.find(&row.task_id).is_none()) {
        let message = format!("{} is blocked, but no open blocker says why", row.task_id);
        let help = "add a blocker with code and reason to `open_blockers`";
        report.add(Pointer::at("/ledger").item(index).key("status"), message, help);
    }
}
