use crate::ids::TaskId;
use crate::work::payload::OrchestratorOutput;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Contract, Links, Report, Subject, rule, show};

rule! {
    /// The assignments of a turn do not wait for each other in a circle.
    ///
    /// ## Why
    /// None of them could ever start.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [],
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-12", "title": "Round invoice totals", "type": "parallelizable",
    ///         "dependencies": ["T-13"], "lock_scope": ["src/money"], "forbidden_scope": [],
    ///         "acceptance_criteria": ["All tests pass"], "worklog_path": "worklogs/T-12.jsonl",
    ///         "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     },
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-13", "title": "Round invoice totals", "type": "parallelizable",
    ///         "dependencies": ["T-12"], "lock_scope": ["docs"], "forbidden_scope": [],
    ///         "acceptance_criteria": ["All tests pass"], "worklog_path": "worklogs/T-13.jsonl",
    ///         "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
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
    ///   "ledger_delta": [],
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-12", "title": "Round invoice totals", "type": "parallelizable",
    ///         "dependencies": ["T-13"], "lock_scope": ["src/money"], "forbidden_scope": [],
    ///         "acceptance_criteria": ["All tests pass"], "worklog_path": "worklogs/T-12.jsonl",
    ///         "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     },
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-13", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["docs"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-13.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static ASSIGNMENTS_CIRCULAR: OrchestratorOutput = {
        id: "assignments-circular",
        code: DependencyNotMet,
        severity: Error,
        summary: "assignments of one turn wait for each other in a circle",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let assignments = &it.record.assignments;
    let given = Firsts::new(assignments.len(), |index| &assignments[index].task.task_id);
    let waits = |task: &TaskId| given.find(task).is_some_and(|index| !assignments[index].task.dependencies.is_empty());
    // A circle needs a task that waits for one that waits.
    if !assignments.iter().any(|assignment| assignment.task.dependencies.iter().any(waits)) {
        return;
    }
    let mut links = Links::default();
    for task in assignments.iter().map(|assignment| &assignment.task) {
        for needs in task.dependencies.iter() {
            links.add(OrchestratorOutput::NAME, task.task_id.as_str(), needs.as_str());
        }
    }
    for (index, task) in assignments.iter().map(|assignment| &assignment.task).enumerate() {
        // A task that waits for itself is told so by its own rules.
        let circle = links.circle(OrchestratorOutput::NAME, task.task_id.as_str()).filter(|circle| circle.len() > 1);
        if let Some(circle) = circle {
            let message = format!("{} waits for itself by way of {}", task.task_id, show(&circle[1..].join(", ")));
            let pointer = Pointer::at("/assignments").item(index).key("task").key("dependencies");
            report.add(pointer, message, "drop one of these dependencies");
        }
    }
}
