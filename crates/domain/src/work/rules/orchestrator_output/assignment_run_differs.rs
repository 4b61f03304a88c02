use crate::work::payload::OrchestratorOutput;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every assignment is of the run of the turn that gives it out.
    ///
    /// ## Why
    /// Tasks, locks and deltas are named within a run. An assignment of another run holds none of the locks listed
    /// beside it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "9b2f6c1e-2d4a-4e0b-8a57-3c1d5e7f9a01",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-12", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["src/money"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-12.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-12", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["src/money"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-12.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static ASSIGNMENT_RUN_DIFFERS: OrchestratorOutput = {
        id: "assignment-run-differs",
        code: CorrelationMismatch,
        severity: Error,
        summary: "an assignment is of another run than the turn",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let run_id = &it.record.run_id;
    for (index, assignment) in it.record.assignments.iter().enumerate().filter(|(_, one)| one.run_id != *run_id) {
        let message = format!("this assignment is of run {}, the turn of {run_id}", assignment.run_id);
        let place = report.place(Pointer::at("/run_id"));
        let pointer = Pointer::at("/assignments").item(index).key("run_id");
        report.add(pointer, message, "give out assignments of one run in a turn").label(place, "the run of the turn");
    }
}
