use crate::work::payload::{Assignment, HandoffBundle};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task is given out when everything it waits for is done, by the handoff bundle that is given with it.
    ///
    /// ## Why
    /// Work that starts before what it builds on is finished builds on something that may still change.
    ///
    /// ## Rejected
    /// ```json with handoff_bundle
    /// {"ledger": [{
    ///   "task_id": "T-8", "title": "Choose a type", "status": "todo", "owner": "", "lock_scope": ["docs"],
    ///   "timeout_seconds": 600, "heartbeat_interval_seconds": 60, "priority": "normal"
    ///  }],
    ///  "active_locks": [], "dependencies": [], "acceptance_targets": ["the run is done"]}
    /// ```
    /// ```json rejected
    /// {"task": {"dependencies": ["T-8"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with handoff_bundle
    /// {}
    /// ```
    /// ```json accepted
    /// {"task": {"dependencies": ["T-9"]}}
    /// ```
    pub static DEPENDENCY_NOT_DONE: Assignment = {
        id: "dependency-not-done",
        code: DependencyNotMet,
        severity: Error,
        summary: "a task is given out before what it waits for is done",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let needs = &it.record.task.dependencies;
    // Of a task given out in a turn, the turn itself says what is done.
    if needs.is_empty() || it.others.is_empty() || it.part {
        return;
    }
    let Some(bundle) = it.kin::<HandoffBundle>() else { return };
    for (index, need) in needs.iter().enumerate() {
        let row = bundle.ledger.iter().find(|row| row.task_id == *need);
        let state = match row.map(|row| row.status) {
            Some(TaskStatus::Done) => continue,
            Some(state) => format!("is {state}"),
            None => "is not in the ledger".to_owned(),
        };
        let message = format!("it waits for {need}, which {state}");
        report.add(Pointer::at("/task/dependencies").item(index), message, "give it out when that is done");
    }
}
