use crate::work::payload::{ActiveLock, Assignment};
use crate::work::places::{Placed, Places};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Nothing in the lock scope may overlap an active lock of another task. Two resources overlap when they are equal
    /// or one contains the other; released locks and the task's own do not count.
    ///
    /// ## Why
    /// Two workers who change the same file overwrite each other, and neither notices.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "task": {"lock_scope": ["src/money"]},
    ///   "active_locks": [{"task_id": "T-9", "resource": "src/money/round.rs", "active": true}]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "task": {"lock_scope": ["src/money"]},
    ///   "active_locks": [
    ///     {"task_id": "T-9", "resource": "src/money2", "active": true},
    ///     {"task_id": "T-7", "resource": "src/money", "active": false},
    ///     {"task_id": "T-12", "resource": "src/money", "active": true}
    ///   ]
    /// }
    /// ```
    pub static LOCK_SCOPE_TAKEN: Assignment = {
        id: "lock-scope-taken",
        code: LockConflict,
        severity: Error,
        summary: "another task holds what the lock scope asks for",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let Assignment { task, active_locks: locks, .. } = it.record;
    let places = Places::new(locks, |lock: &ActiveLock| {
        lock.active && lock.resource.is_usable() && lock.task_id != task.task_id
    });
    for (index, resource) in task.lock_scope.iter().enumerate().filter(|(_, it)| it.is_usable()) {
        let Some(taken) = places.overlapping(resource.place()) else { continue };
        let lock = &locks[taken];
        let place = report.place(Pointer::at("/active_locks").item(taken).key("resource"));
        let found = report.add(
            Pointer::at("/task/lock_scope").item(index),
            format!("`{}` is held by {}", show(resource.as_str()), lock.task_id),
            format!("wait until {} is done, or choose a narrower scope", lock.task_id),
        );
        found.label(place, format!("{} holds this", lock.task_id));
    }
}
