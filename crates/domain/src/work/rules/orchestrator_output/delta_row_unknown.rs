use crate::work::payload::OrchestratorOutput;
use crate::work::places::Firsts;
use crate::work::replay::{Replay, bundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A delta changes a row that is there, or makes one. It makes one when its status is `todo` and it has a title, or
    /// the assignment of its task is in the same turn. The rows are known only when a handoff bundle is given with the
    /// turn.
    ///
    /// ## Why
    /// A change to a task that nobody created is a mistyped id, or a change to another ledger.
    ///
    /// ## Rejected
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-40", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "blockers": [{"task_id": "T-40", "code": "DEPENDENCY_NOT_MET", "reason": "T-9 is not done"}],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-40", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "title": "Round tax"
    ///     },
    ///     {"task_id": "T-40", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-40", "status": "todo", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ],
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-40", "title": "Round invoice totals", "type": "parallelizable", "dependencies": [],
    ///         "lock_scope": ["src/tax"], "forbidden_scope": [], "acceptance_criteria": ["All tests pass"],
    ///         "worklog_path": "worklogs/T-40.jsonl", "timeout_seconds": 1200, "heartbeat_interval_seconds": 120
    ///       },
    ///       "active_locks": [], "context_package": [], "required_output_schema": "subagent_result_v1"
    ///     }
    ///   ],
    ///   "active_locks": []
    /// }
    /// ```
    pub static DELTA_ROW_UNKNOWN: OrchestratorOutput = {
        id: "delta-row-unknown",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a delta changes a row that is not there",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let Some(bundle) = bundle(it) else { return };
    let replay = Replay::new(it.record, Some(&bundle));
    let assignments = &it.record.assignments;
    let given = Firsts::new(assignments.len(), |index| &assignments[index].task.task_id);
    for (index, delta) in replay.applied() {
        if replay.row(&delta.task_id).is_some() || replay.delta_before(&delta.task_id, index).is_some() {
            continue;
        }
        let makes = delta.status == TaskStatus::Todo && (delta.title.is_some() || given.find(&delta.task_id).is_some());
        if !makes {
            let message = format!("the ledger has no row for {}, and this delta does not make one", delta.task_id);
            let pointer = Pointer::at("/ledger_delta").item(index).key("task_id");
            report.add(pointer, message, "correct the id, or create the task with status `todo` and a title first");
        }
    }
}
