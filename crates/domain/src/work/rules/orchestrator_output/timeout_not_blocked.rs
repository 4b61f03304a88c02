use crate::work::payload::OrchestratorOutput;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that timed out is blocked.
    ///
    /// ## Why
    /// Its worker was silent for longer than its timeout and may be gone. Until somebody has looked, the task can
    /// neither go on nor be finished.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "timed_out": true
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "timed_out": true
    ///     }
    ///   ],
    ///   "blockers": [{"task_id": "T-12", "code": "TASK_TIMEOUT", "reason": "silent for 1300 s"}],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static TIMEOUT_NOT_BLOCKED: OrchestratorOutput = {
        id: "timeout-not-blocked",
        code: TaskTimeout,
        severity: Error,
        summary: "a task timed out and is not blocked",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    for (index, delta) in it.record.ledger_delta.iter().enumerate() {
        if delta.timed_out == Some(true) && delta.status != TaskStatus::Blocked {
            let message = format!("{} timed out, but is {}", delta.task_id, delta.status);
            let pointer = Pointer::at("/ledger_delta").item(index).key("status");
            report.add(pointer, message, "release its locks and block it with TASK_TIMEOUT");
        }
    }
}
