use crate::work::payload::{Assignment, OrchestratorOutput, ResultStatus, SubagentResult};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task becomes done only when the result of its worker says done.
    ///
    /// ## Why
    /// Done means that every criterion is met. The worker who says that it is not must know.
    ///
    /// ## Rejected
    /// ```json with subagent_result
    /// {"status": "failed"}
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with subagent_result
    /// {"status": "done"}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static DONE_AGAINST_RESULT: OrchestratorOutput = {
        id: "done-against-result",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a task is called done although its worker says otherwise",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let deltas = it.record.ledger_delta.iter().enumerate();
    for (index, delta) in deltas.filter(|(_, delta)| delta.status == TaskStatus::Done) {
        let result = it.other::<SubagentResult>(&Assignment::name(&it.record.run_id, &delta.task_id));
        if let Some(result) = result.filter(|result| result.status != ResultStatus::Done) {
            let message = format!("{} is called done, but its result says {}", delta.task_id, result.status);
            let pointer = Pointer::at("/ledger_delta").item(index).key("status");
            report.add(pointer, message, "follow the result, or have the work finished");
        }
    }
}
