use crate::work::payload::{ActiveLock, OrchestratorOutput};
use crate::work::places::{Firsts, Placed, Places};
use crate::work::replay::Replay;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A task that starts holds the whole lock scope of its assignment.
    ///
    /// ## Why
    /// What a worker changes without a lock is given to the next one who asks.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"active_locks": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"active_locks": [{"task_id": "T-12", "resource": "src", "active": true}]}
    /// ```
    pub static DELTA_UNLOCKED: OrchestratorOutput = {
        id: "delta-unlocked",
        code: LockConflict,
        severity: Warning,
        summary: "a task starts without holding its scope",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let OrchestratorOutput { ledger_delta, assignments, active_locks, .. } = it.record;
    let given = Firsts::new(assignments.len(), |index| &assignments[index].task.task_id);
    let held = Places::new(active_locks, |lock: &ActiveLock| lock.active);
    let replay = Replay::new(it.record, None);
    for (index, delta) in ledger_delta.iter().enumerate() {
        let last = || replay.last_delta(&delta.task_id).is_some_and(|(last, _)| last == index);
        let starts = delta.status == TaskStatus::InProgress && last();
        let Some(given) = given.find(&delta.task_id).filter(|_| starts) else { continue };
        let scope = &assignments[given].task.lock_scope;
        let mine = |lock: &ActiveLock| lock.task_id == delta.task_id;
        let mut usable = scope.iter().filter(|resource| resource.is_usable());
        if let Some(free) = usable.find(|resource| held.holding_where(resource.place(), mine).is_none()) {
            let message = format!("{} starts, but does not hold `{}`", delta.task_id, show(free.as_str()));
            let pointer = Pointer::at("/ledger_delta").item(index).key("status");
            report.add(pointer, message, "list its lock in `active_locks`");
        }
    }
}
