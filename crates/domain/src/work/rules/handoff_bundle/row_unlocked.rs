use crate::work::payload::{ActiveLock, HandoffBundle};
use crate::work::places::{Placed, Places};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A task that is in progress holds its whole lock scope.
    ///
    /// ## Why
    /// What a worker changes without a lock is given to the next one who asks.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-12", "resource": "src/money", "active": false}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"active_locks": [{"task_id": "T-12", "resource": "src", "active": true}]}
    /// ```
    pub static ROW_UNLOCKED: HandoffBundle = {
        id: "row-unlocked",
        code: LedgerInconsistent,
        severity: Warning,
        summary: "a task is in progress without holding its scope",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, active_locks, .. } = it.record;
    let held = Places::new(active_locks, |lock: &ActiveLock| lock.active);
    for (index, row) in ledger.iter().enumerate().filter(|(_, row)| row.status == TaskStatus::InProgress) {
        for (entry, resource) in row.lock_scope.iter().enumerate() {
            if held.holding_where(resource.place(), |lock| lock.task_id == row.task_id).is_none() {
                let message =
                    format!("{} is in progress, but does not hold `{}`", row.task_id, show(resource.as_str()));
                let pointer = Pointer::at("/ledger").item(index).key("lock_scope").item(entry);
                report.add(pointer, message, "list its lock in `active_locks`, or correct the state of the task");
            }
        }
    }
}
