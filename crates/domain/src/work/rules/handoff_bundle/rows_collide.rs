use crate::work::claim::Claim;
use crate::work::payload::HandoffBundle;
use crate::work::places::nested;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The lock scopes of tasks that are in progress have nothing in common.
    ///
    /// ## Why
    /// Both workers may change what both scopes hold, and will overwrite each other.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-13", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
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
    ///       "lock_scope": ["src"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     }
    ///   ],
    ///   "dependencies": []
    /// }
    /// ```
    pub static ROWS_COLLIDE: HandoffBundle = {
        id: "rows-collide",
        code: LockConflict,
        severity: Error,
        summary: "two tasks in progress have scopes that overlap",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let rows = it.record.ledger.iter().enumerate();
    let mut busy = rows.clone().filter(|(_, row)| row.status == TaskStatus::InProgress);
    // One task alone cannot collide, and most bundles have but one.
    if busy.by_ref().nth(1).is_none() {
        return;
    }
    let busy = rows.filter(|(_, row)| row.status == TaskStatus::InProgress);
    let claims: Vec<Claim<'_>> =
        busy.flat_map(|(index, row)| Claim::all(index, &row.task_id, &row.lock_scope)).collect();
    for (inner, outer) in nested(&claims, |_| true, |index| claims[index].task) {
        let (one, other) = (&claims[inner], &claims[outer]);
        let message =
            format!("{} and {} are both in progress on `{}`", one.task, other.task, show(one.resource.as_str()));
        let at = |claim: &Claim<'_>| Pointer::at("/ledger").item(claim.holder).key("lock_scope").item(claim.entry);
        let place = report.place(at(other));
        let found = report.add(at(one), message, "block one of the two until the other is done");
        found.label(place, format!("the scope of {}", other.task));
    }
}
