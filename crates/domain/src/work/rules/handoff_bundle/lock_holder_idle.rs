use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every active lock is held by a task of the ledger that is in progress.
    ///
    /// ## Why
    /// Locks are taken when a task starts and released when it stops, also when it is blocked. A lock of any other task
    /// keeps everybody out and protects nobody.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-9", "resource": "docs/rounding.md", "active": true}]}
    /// ```
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-40", "resource": "docs", "active": true}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-12", "resource": "src/money", "active": true},
    ///     {"task_id": "T-9", "resource": "docs/rounding.md", "active": false}
    ///   ]
    /// }
    /// ```
    pub static LOCK_HOLDER_IDLE: HandoffBundle = {
        id: "lock-holder-idle",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a lock is held by a task that nobody works on",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, active_locks, .. } = it.record;
    let rows = Firsts::new(ledger.len(), |index| &ledger[index].task_id);
    for (index, lock) in active_locks.iter().enumerate().filter(|(_, lock)| lock.active) {
        let status = rows.find(&lock.task_id).map(|row| ledger[row].status);
        let state = match status {
            Some(TaskStatus::InProgress) => continue,
            Some(status) => format!("is {status}"),
            None => "is not in the ledger".to_owned(),
        };
        let message = format!("{} holds `{}`, but {state}", lock.task_id, show(lock.resource.as_str()));
        report.add(Pointer::at("/active_locks").item(index), message, "release the lock, or correct the row");
    }
}
