use crate::work::payload::OrchestratorOutput;
use crate::work::places::Firsts;
use crate::work::replay::Replay;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::{Code, Pointer};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that a turn leaves blocked has a blocker with code and reason in the same turn. For a task that timed out
    /// the code is TASK_TIMEOUT.
    ///
    /// ## Why
    /// Without one nobody knows what has to happen before the task can go on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "timed_out": true
    ///     }
    ///   ],
    ///   "blockers": [{"task_id": "T-12", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "blockers": [{"task_id": "T-12", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-12", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static DELTA_BLOCKER_MISSING: OrchestratorOutput = {
        id: "delta-blocker-missing",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task is blocked and no blocker says why",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let OrchestratorOutput { ledger_delta, blockers, .. } = it.record;
    if !ledger_delta.iter().any(|delta| delta.status == TaskStatus::Blocked) {
        return;
    }
    let replay = Replay::new(it.record, None);
    let is_timeout = |index: usize| blockers[index].code.get() == Code::TaskTimeout;
    let named = Firsts::new(blockers.len(), |index| (&blockers[index].task_id, is_timeout(index)));
    for (index, delta) in replay.applied().filter(|(_, delta)| delta.status == TaskStatus::Blocked) {
        let moves_on = replay.last_delta(&delta.task_id).is_some_and(|(last, _)| last != index);
        let timed_out = delta.timed_out == Some(true);
        let explained = named.find(&(&delta.task_id, true)).is_some()
            || !timed_out && named.find(&(&delta.task_id, false)).is_some();
        if !moves_on && !explained {
            let kind = if timed_out { "no blocker with TASK_TIMEOUT" } else { "no blocker" };
            let message = format!("{} is blocked, but {kind} says why", delta.task_id);
            let pointer = Pointer::at("/ledger_delta").item(index).key("status");
            report.add(pointer, message, "add an entry with its code and reason to `blockers`");
        }
    }
}
