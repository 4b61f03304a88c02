use crate::work::payload::OrchestratorOutput;
use crate::work::replay::{Replay, bundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A task that is done, failed, canceled or blocked holds no lock. Releasing a lock sets `active` to false and
    /// keeps the entry.
    ///
    /// ## Why
    /// A lock that nobody works under keeps everybody out. A worker that was silent for too long loses its locks first.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": [{"task_id": "T-12", "resource": "src/money", "active": false}]
    /// }
    /// ```
    pub static LOCK_OUTLIVES_WORK: OrchestratorOutput = {
        id: "lock-outlives-work",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task has stopped and still holds a lock",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let locks = it.record.active_locks.iter().enumerate().filter(|(_, lock)| lock.active);
    let bundle = bundle(it);
    let replay = Replay::new(it.record, bundle.as_deref());
    for (index, lock) in locks {
        let state = replay.state(&lock.task_id);
        if let Some(state) = state.filter(|state| state.is_final() || *state == TaskStatus::Blocked) {
            let message = format!("{} is {state}, but holds `{}`", lock.task_id, show(lock.resource.as_str()));
            report.add(Pointer::at("/active_locks").item(index).key("active"), message, "release the lock");
        }
    }
}
