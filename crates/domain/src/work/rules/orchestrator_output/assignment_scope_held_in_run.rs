use crate::work::payload::{ActiveLock, OrchestratorOutput};
use crate::work::places::{Placed, Places};
use crate::work::replay::{Replay, bundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};
use std::collections::HashSet;

rule! {
    /// What an assignment of a turn locks must be free in the run as it stands: by the handoff bundle that is given with
    /// the turn no other task holds it, unless the turn itself lists that lock or stops that task.
    ///
    /// ## Why
    /// A turn lists the locks that its author knew of. The bundle knows them all, and a lock that a turn does not speak of
    /// is not released by it.
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
    /// {
    ///   "ledger_delta": [{
    ///     "task_id": "T-12", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-1"
    ///   }],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with handoff_bundle
    /// {"ledger": [{
    ///   "task_id": "T-9", "title": "Move money", "status": "in_progress", "owner": "mover", "lock_scope": ["src"],
    ///   "timeout_seconds": 600, "heartbeat_interval_seconds": 60, "priority": "normal"
    ///  }],
    ///  "active_locks": [{"task_id": "T-9", "resource": "src", "active": true}],
    ///  "dependencies": [], "acceptance_targets": ["the run is done"]}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-9", "status": "done", "owner": "mover", "reason": "result accepted", "delta_id": "d-1"},
    ///     {"task_id": "T-12", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "active_locks": [{"task_id": "T-9", "resource": "src", "active": false}]
    /// }
    /// ```
    pub static ASSIGNMENT_SCOPE_HELD_IN_RUN: OrchestratorOutput = {
        id: "assignment-scope-held-in-run",
        code: LockConflict,
        severity: Error,
        summary: "an assignment of a turn asks for what another task of the run holds",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let OrchestratorOutput { assignments, active_locks: listed, .. } = it.record;
    if assignments.is_empty() {
        return;
    }
    let Some(bundle) = bundle(it) else { return };
    let replay = Replay::new(it.record, Some(&bundle));
    // Of a lock that the turn lists, the turn has the last word, and other rules hold it to that.
    let listed: HashSet<_> = listed.iter().map(|lock| (&lock.task_id, lock.place())).collect();
    let stopped = |state: TaskStatus| state.is_final() || state == TaskStatus::Blocked;
    let held = |lock: &ActiveLock| {
        lock.active
            && !listed.contains(&(&lock.task_id, lock.place()))
            && !replay.state(&lock.task_id).is_some_and(stopped)
    };
    let places = Places::new(&bundle.active_locks, held);
    for (index, task) in assignments.iter().map(|assignment| &assignment.task).enumerate() {
        for (entry, resource) in task.lock_scope.iter().enumerate().filter(|(_, it)| it.is_usable()) {
            let taken = places.overlapping_where(resource.place(), |lock| lock.task_id != task.task_id);
            let Some(taken) = taken else { continue };
            let holder = &bundle.active_locks[taken].task_id;
            report.add(
                Pointer::at("/assignments").item(index).key("task").key("lock_scope").item(entry),
                format!(
                    "{} gets `{}`, which {holder} holds in the run as it stands",
                    task.task_id,
                    show(resource.as_str())
                ),
                format!("wait until {holder} is done, or choose a narrower scope"),
            );
        }
    }
}
