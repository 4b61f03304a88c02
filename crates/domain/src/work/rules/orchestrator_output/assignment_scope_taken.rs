use crate::work::payload::{ActiveLock, OrchestratorOutput};
use crate::work::places::{Placed, Places};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Nothing in the lock scope of an assignment overlaps an active lock that another task has in the same turn.
    ///
    /// ## Why
    /// The turn itself says that the resource is held. Two workers would change it at once.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": [{"task_id": "T-9", "resource": "src", "active": true}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "active_locks": [
    ///     {"task_id": "T-9", "resource": "src/money2", "active": true},
    ///     {"task_id": "T-9", "resource": "src", "active": false},
    ///     {"task_id": "T-12", "resource": "src/money", "active": true}
    ///   ]
    /// }
    /// ```
    pub static ASSIGNMENT_SCOPE_TAKEN: OrchestratorOutput = {
        id: "assignment-scope-taken",
        code: LockConflict,
        severity: Error,
        summary: "an assignment asks for what another task holds",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let OrchestratorOutput { assignments, active_locks: locks, .. } = it.record;
    let places = Places::new(locks, |lock: &ActiveLock| lock.active && lock.resource.is_usable());
    for (index, task) in assignments.iter().map(|assignment| &assignment.task).enumerate() {
        for (entry, resource) in task.lock_scope.iter().enumerate().filter(|(_, it)| it.is_usable()) {
            let taken = places.overlapping_where(resource.place(), |lock| lock.task_id != task.task_id);
            let Some(taken) = taken else { continue };
            let holder = &locks[taken].task_id;
            let place = report.place(Pointer::at("/active_locks").item(taken).key("resource"));
            let found = report.add(
                Pointer::at("/assignments").item(index).key("task").key("lock_scope").item(entry),
                format!("{} gets `{}`, which {holder} holds", task.task_id, show(resource.as_str())),
                format!("wait until {holder} is done, or choose a narrower scope"),
            );
            found.label(place, format!("{holder} holds this"));
        }
    }
}
