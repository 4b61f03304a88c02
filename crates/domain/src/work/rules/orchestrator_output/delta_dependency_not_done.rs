use crate::work::payload::{LedgerDelta, OrchestratorOutput};
use crate::work::places::Firsts;
use crate::work::replay::{Replay, bundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task starts when everything it waits for is done: by its assignment in the same turn, and by the dependencies
    /// of a handoff bundle if one is given. Without a bundle only what the turn itself says of a task is known.
    ///
    /// ## Why
    /// Work that starts before what it builds on is finished builds on something that may still change.
    ///
    /// ## Rejected
    /// ```json with handoff_bundle
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"}
    ///   ]
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-9", "status": "failed", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-2"}
    ///   ],
    ///   "assignments": [
    ///     {
    ///       "schema_version": "1.0.0", "run_id": "3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4",
    ///       "packet_type": "assignment", "global_objective": "Round money half to even",
    ///       "task": {
    ///         "task_id": "T-12", "title": "Round invoice totals", "type": "parallelizable", "dependencies": ["T-9"],
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
    /// ```json with handoff_bundle
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ],
    ///   "active_locks": []
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {"task_id": "T-9", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1"},
    ///     {"task_id": "T-9", "status": "done", "owner": "coder", "reason": "planned", "delta_id": "d-2"},
    ///     {"task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-3"}
    ///   ]
    /// }
    /// ```
    pub static DELTA_DEPENDENCY_NOT_DONE: OrchestratorOutput = {
        id: "delta-dependency-not-done",
        code: DependencyNotMet,
        severity: Error,
        summary: "a task starts before what it waits for is done",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let assignments = &it.record.assignments;
    let bundle = bundle(it);
    let replay = Replay::new(it.record, bundle.as_deref());
    let given = Firsts::new(assignments.len(), |index| &assignments[index].task.task_id);
    let waits = bundle.as_deref().map_or(&[][..], |bundle| &bundle.dependencies);
    let waiting = Firsts::new(waits.len(), |index| &waits[index].task_id);
    let starts = |delta: &LedgerDelta| delta.status == TaskStatus::InProgress;
    for (index, delta) in replay.applied().filter(|(_, delta)| starts(delta)) {
        let task = &delta.task_id;
        if replay.state_before(task, index) == Some(TaskStatus::InProgress) {
            continue;
        }
        let assigned = given.find(task).map_or(&[][..], |index| &assignments[index].task.dependencies);
        let known = waiting.find(task).map_or(&[][..], |index| &waits[index].depends_on);
        let listed = Firsts::new(assigned.len(), |index| &assigned[index]);
        let more = known.iter().filter(|needs| listed.find(*needs).is_none());
        for needs in assigned.iter().chain(more) {
            let state = replay.state_before(needs, index);
            if let Some(state) = not_done(state, bundle.is_some()) {
                let message = format!("{task} starts, but waits for {needs}, which {state}");
                let pointer = Pointer::at("/ledger_delta").item(index).key("status");
                report.add(pointer, message, "start it when everything it waits for is done");
            }
        }
    }
    // Giving a task out starts it, also when no delta says so.
    for (index, task) in assignments.iter().map(|assignment| &assignment.task).enumerate() {
        let state = replay.state(&task.task_id);
        if state.is_some_and(|state| state == TaskStatus::InProgress || state.is_final()) {
            continue;
        }
        for (number, needs) in task.dependencies.iter().enumerate() {
            if let Some(state) = not_done(replay.state(needs), bundle.is_some()) {
                let message = format!("{} is given out, but waits for {needs}, which {state}", task.task_id);
                let place = Pointer::at("/assignments").item(index).key("task").key("dependencies").item(number);
                report.add(place, message, "give it out when everything it waits for is done");
            }
        }
    }
}

/// How a task stands that is not done. A task of which nothing is known is not done when all rows are known.
fn not_done(state: Option<TaskStatus>, all_known: bool) -> Option<String> {
    match state {
        Some(TaskStatus::Done) => None,
        Some(state) => Some(format!("is {state}")),
        None => all_known.then(|| "is not in the ledger".to_owned()),
    }
}
