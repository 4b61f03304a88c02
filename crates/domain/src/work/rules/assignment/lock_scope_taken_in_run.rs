use crate::work::payload::{ActiveLock, Assignment, HandoffBundle};
use crate::work::places::{Placed, Places};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// What an assignment locks must be free in the run as it stands: no other task holds it by the handoff bundle that
    /// is given with it.
    ///
    /// ## Why
    /// The locks in a packet are those that its author knew of. The bundle knows them all.
    ///
    /// ## Rejected
    /// ```json with handoff_bundle
    /// {"ledger": [{
    ///   "task_id": "T-9", "title": "Move money", "status": "in_progress", "owner": "mover", "lock_scope": ["src"],
    ///   "timeout_seconds": 600, "heartbeat_interval_seconds": 60, "priority": "normal"
    ///  }],
    ///  "active_locks": [{"task_id": "T-9", "resource": "src", "active": true}],
    ///  "dependencies": [], "acceptance_targets": ["the run is done"]}
    /// ```
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    pub static LOCK_SCOPE_TAKEN_IN_RUN: Assignment = {
        id: "lock-scope-taken-in-run",
        code: LockConflict,
        severity: Error,
        summary: "another task of the run holds what the lock scope asks for",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    // A turn may release in the same breath what its assignments take.
    if it.others.is_empty() || it.part {
        return;
    }
    let Some(bundle) = it.kin::<HandoffBundle>() else { return };
    let task = &it.record.task;
    let places = Places::new(&bundle.active_locks, |lock: &ActiveLock| {
        lock.active && lock.resource.is_usable() && lock.task_id != task.task_id
    });
    for (index, resource) in task.lock_scope.iter().enumerate().filter(|(_, it)| it.is_usable()) {
        let Some(taken) = places.overlapping(resource.place()) else { continue };
        let holder = &bundle.active_locks[taken].task_id;
        report.add(
            Pointer::at("/task/lock_scope").item(index),
            format!("`{}` is held by {holder} in the run as it stands", show(resource.as_str())),
            format!("wait until {holder} is done, or choose a narrower scope"),
        );
    }
}
