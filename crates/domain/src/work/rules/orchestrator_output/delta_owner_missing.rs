use crate::work::payload::OrchestratorOutput;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, is_blank, rule};

rule! {
    /// A task that is in progress has an owner.
    ///
    /// ## Why
    /// Somebody works on it, holds its locks and gives signs of life. Without a name nobody can be asked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": " ", "reason": "planned", "delta_id": "d-1"}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "todo", "owner": "", "reason": "planned", "delta_id": "d-1"}
    ///   ]
    /// }
    /// ```
    pub static DELTA_OWNER_MISSING: OrchestratorOutput = {
        id: "delta-owner-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a task is in progress and nobody has it",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    for (index, delta) in it.record.ledger_delta.iter().enumerate() {
        if delta.status == TaskStatus::InProgress && is_blank(&delta.owner) {
            let message = format!("{} is in progress, but has no owner", delta.task_id);
            report.add(Pointer::at("/ledger_delta").item(index).key("owner"), message, "name who works on it");
        }
    }
}
