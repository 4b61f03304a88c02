use crate::validation::payload::{Promise, ValidationResponse};
use crate::work::authorship;
use crate::work::payload::{HandoffBundle, OrchestratorOutput, WorklogEntry};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Contract, Report, Subject, rule, show};

rule! {
    /// Who had a hand in the work is not its validator, whichever document shows it: a line of the task's worklog, a
    /// turn or a bundle in which they have the task, or the promise that it is, if they own it or met a criterion of it.
    ///
    /// ## Why
    /// A request need not name the author, but the work leaves traces. Whoever stands in them looks at their own work. A
    /// response names no run, so a task id means the same task in every document that is given with it.
    ///
    /// ## Rejected
    /// ```json with worklog_entry
    /// {"actor": "worker-7"}
    /// ```
    /// ```json rejected
    /// {"task_id": "T-12", "validator_id": "Worker-7"}
    /// ```
    /// ```json with orchestrator_output
    /// {}
    /// ```
    /// ```json rejected
    /// {"task_id": "T-12", "validator_id": "coder"}
    /// ```
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json rejected
    /// {"task_id": "T-12", "validator_id": "coder"}
    /// ```
    /// ```json with promise
    /// {"ownership": {"owned_by": "session-a", "owned_since": "2026-02-07T18:30:00Z"}}
    /// ```
    /// ```json rejected
    /// {"task_id": "promise-1a2b3c4d", "validator_id": "session-a"}
    /// ```
    ///
    /// ## Accepted
    /// ```jsonl with worklog_entry
    /// {"actor": "worker-7"}
    /// {"actor": "worker-8"}
    /// ```
    /// ```json with orchestrator_output
    /// {}
    /// ```
    /// ```json accepted
    /// {"task_id": "T-12", "validator_id": "s3-validator-checkout"}
    /// ```
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json accepted
    /// {"task_id": "T-9", "validator_id": "coder"}
    /// ```
    pub static VALIDATOR_TOOK_PART: ValidationResponse = {
        id: "validator-took-part",
        code: MissingValidator,
        severity: Error,
        summary: "the validator had a hand in the work",
        check: check,
    }
}

/// Where a hand in the work shows, and how that is said.
const TRACES: [(&str, &str); 4] = [
    (WorklogEntry::NAME, "wrote in the worklog of"),
    (OrchestratorOutput::NAME, "has, in a turn of the orchestrator,"),
    (HandoffBundle::NAME, "has, in a handoff bundle,"),
    (Promise::NAME, "owns or met in part"),
];

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let Some(validator) = &it.record.validator_id else { return };
    let task = it.record.task_id.as_str();
    let name = authorship::by(task, validator.as_str());
    let Some((_, how)) = TRACES.iter().find(|(contract, _)| it.others.has(contract, &name)) else { return };
    let message = format!("validator `{}` {how} `{task}`, which is the work to look at", show(validator.as_str()));
    report.add(Pointer::at("/validator_id"), message, "have someone validate the work who had no hand in it");
}
