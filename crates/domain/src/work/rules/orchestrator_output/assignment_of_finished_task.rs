use crate::work::payload::OrchestratorOutput;
use crate::work::replay::{Replay, bundle};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that is done, failed or canceled is not given out again.
    ///
    /// ## Why
    /// These states are final. Work that is wanted again gets a task of its own.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "canceled", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "title": "Round invoice totals"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static ASSIGNMENT_OF_FINISHED_TASK: OrchestratorOutput = {
        id: "assignment-of-finished-task",
        code: InvalidTransition,
        severity: Error,
        summary: "a task is given out that is finished",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    if it.record.assignments.is_empty() {
        return;
    }
    let bundle = bundle(it);
    let replay = Replay::new(it.record, bundle.as_deref());
    for (index, assignment) in it.record.assignments.iter().enumerate() {
        let task = &assignment.task.task_id;
        if let Some(state) = replay.state(task).filter(|state| state.is_final()) {
            let pointer = Pointer::at("/assignments").item(index).key("task").key("task_id");
            let message = format!("{task} is given out, but it is {state}");
            report.add(pointer, message, "make a new task for new work");
        }
    }
}
