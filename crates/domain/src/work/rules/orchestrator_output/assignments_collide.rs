use crate::work::claim::Claim;
use crate::work::payload::OrchestratorOutput;
use crate::work::places::nested;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The lock scopes of the assignments of a turn have nothing in common.
    ///
    /// ## Why
    /// All of them are given out now. Whatever two of them may change, both will.
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
    ///         "task_id": "T-13", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["src"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-13.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ],
    ///   "active_locks": []
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
    ///     },
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-13", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["src/money2"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-13.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static ASSIGNMENTS_COLLIDE: OrchestratorOutput = {
        id: "assignments-collide",
        code: LockConflict,
        severity: Error,
        summary: "two assignments of one turn have scopes that overlap",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let assignments = &it.record.assignments;
    if assignments.len() < 2 {
        return;
    }
    let tasks = assignments.iter().map(|assignment| &assignment.task).enumerate();
    let claims: Vec<Claim<'_>> =
        tasks.flat_map(|(index, task)| Claim::all(index, &task.task_id, &task.lock_scope)).collect();
    for (inner, outer) in nested(&claims, |claim| claim.resource.is_usable(), |index| claims[index].task) {
        let (one, other) = (&claims[inner], &claims[outer]);
        let message = format!("{} and {} both get `{}`", one.task, other.task, show(one.resource.as_str()));
        let at = |claim: &Claim<'_>| {
            Pointer::at("/assignments").item(claim.holder).key("task").key("lock_scope").item(claim.entry)
        };
        let place = report.place(at(other));
        let found = report.add(at(one), message, "give one of the two out when the other is done");
        found.label(place, format!("the scope of {}", other.task));
    }
}
