use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every open blocker belongs to a task that is blocked.
    ///
    /// ## Why
    /// A blocker of a task that goes on is out of date, or the task goes on although it must not.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"open_blockers": [{"task_id": "T-12", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}]}
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
    pub static OPEN_BLOCKER_STRAY: HandoffBundle = {
        id: "open-blocker-stray",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a blocker is open for a task that is not blocked",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, open_blockers, .. } = it.record;
    let rows = Firsts::new(ledger.len(), |index| &ledger[index].task_id);
    for (index, blocker) in open_blockers.iter().enumerate() {
        let state = match rows.find(&blocker.task_id).map(|row| ledger[row].status) {
            Some(TaskStatus::Blocked) => continue,
            Some(state) => format!("is {state}"),
            None => "is not in the ledger".to_owned(),
        };
        let message = format!("a blocker is open for {}, which {state}", blocker.task_id);
        let pointer = Pointer::at("/open_blockers").item(index).key("task_id");
        report.add(pointer, message, "close the blocker, or correct the row");
    }
}
