use crate::work::payload::OrchestratorOutput;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A turn gives each task out once.
    ///
    /// ## Why
    /// Two workers with one task hold the same locks and overwrite each other, and both are right.
    ///
    /// ## Rejected
    /// ```json rejected
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
    ///     },
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
    pub static ASSIGNMENT_REPEATED: OrchestratorOutput = {
        id: "assignment-repeated",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task is given out twice in one turn",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let assignments = &it.record.assignments;
    for (later, first) in Firsts::new(assignments.len(), |index| &assignments[index].task.task_id).repeats() {
        let at = |index| Pointer::at("/assignments").item(index).key("task").key("task_id");
        let message = format!("{} is given out twice", assignments[later].task.task_id);
        let place = report.place(at(first));
        report.add(at(later), message, "keep one of the two assignments").label(place, "first here");
    }
}
