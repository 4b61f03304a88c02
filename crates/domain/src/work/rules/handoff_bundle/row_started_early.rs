use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that is in progress or done waits for nothing that is not done.
    ///
    /// ## Why
    /// Work that starts before what it builds on is finished builds on something that may still change.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "todo", "owner": "",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger": [
    ///     {
    ///       "task_id": "T-9", "title": "Round invoice totals", "status": "done", "owner": "coder",
    ///       "lock_scope": ["docs"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120, "priority": "high"
    ///     },
    ///     {
    ///       "task_id": "T-12", "title": "Round invoice totals", "status": "in_progress", "owner": "coder",
    ///       "lock_scope": ["src/money"], "timeout_seconds": 1200, "heartbeat_interval_seconds": 120,
    ///       "priority": "high"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static ROW_STARTED_EARLY: HandoffBundle = {
        id: "row-started-early",
        code: DependencyNotMet,
        severity: Error,
        summary: "a task was started before what it waits for is done",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, dependencies, .. } = it.record;
    let rows = Firsts::new(ledger.len(), |index| &ledger[index].task_id);
    for (index, entry) in dependencies.iter().enumerate() {
        let status = rows.find(&entry.task_id).map(|row| ledger[row].status);
        let Some(status @ (TaskStatus::InProgress | TaskStatus::Done)) = status else { continue };
        for (number, needs) in entry.depends_on.iter().enumerate() {
            let state = match rows.find(needs).map(|row| ledger[row].status) {
                Some(TaskStatus::Done) => continue,
                Some(state) => format!("is {state}"),
                None => "is not in the ledger".to_owned(),
            };
            let message = format!("{} is {status}, but waits for {needs}, which {state}", entry.task_id);
            let pointer = Pointer::at("/dependencies").item(index).key("depends_on").item(number);
            report.add(pointer, message, "finish what it waits for first, or correct the rows");
        }
    }
}
