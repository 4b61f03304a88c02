use crate::work::payload::OrchestratorOutput;
use crate::work::replay::{Replay, bundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every blocker belongs to a task that the turn leaves blocked, or that failed of it. What a turn does not say of
    /// a task is known from the handoff bundle, if one is given.
    ///
    /// ## Why
    /// A blocker of a task that goes on is out of date, or the task goes on although it must not.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"blockers": [{"task_id": "T-12", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}]}
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
    ///     {"task_id": "T-12", "status": "failed", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "blockers": [
    ///     {"task_id": "T-12", "code": "ACCEPTANCE_FAILED", "reason": "the tests do not pass"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static BLOCKER_STRAY: OrchestratorOutput = {
        id: "blocker-stray",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a blocker is named for a task that is not blocked",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    if it.record.blockers.is_empty() {
        return;
    }
    let bundle = bundle(it);
    let replay = Replay::new(it.record, bundle.as_deref());
    for (index, blocker) in it.record.blockers.iter().enumerate() {
        let state = match replay.state(&blocker.task_id) {
            Some(TaskStatus::Blocked | TaskStatus::Failed) => continue,
            Some(state) => format!("is {state}"),
            None if bundle.is_some() => "is not in the ledger".to_owned(),
            None => continue,
        };
        let message = format!("a blocker is named for {}, which {state}", blocker.task_id);
        let pointer = Pointer::at("/blockers").item(index).key("task_id");
        report.add(pointer, message, "remove the blocker, or block the task");
    }
}
