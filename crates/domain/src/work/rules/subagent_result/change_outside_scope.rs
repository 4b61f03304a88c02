use crate::work::payload::{Assignment, SubagentResult};
use crate::work::places::Placed;
use crate::work::reach::Reach;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every change lies inside the lock scope of the assignment and outside its forbidden scope. The task's own
    /// worklog may always be written.
    ///
    /// ## Why
    /// Locks keep workers apart only as long as everybody stays inside their own.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json rejected
    /// {"changes": [{"resource": "src/money2/round.rs", "action": "edit"}]}
    /// ```
    /// ```json with assignment
    /// {"task": {"forbidden_scope": ["src/api"]}}
    /// ```
    /// ```json rejected
    /// {"changes": [{"resource": "src/api/totals.rs", "action": "edit"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"], "worklog_path": "worklogs/T-12.jsonl"}}
    /// ```
    /// ```json accepted
    /// {
    ///   "changes": [
    ///     {"resource": "src/money/round.rs", "action": "edit"},
    ///     {"resource": "worklogs/T-12.jsonl", "action": "append"}
    ///   ]
    /// }
    /// ```
    pub static CHANGE_OUTSIDE_SCOPE: SubagentResult = {
        id: "change-outside-scope",
        code: ScopeViolation,
        severity: Error,
        summary: "a worker changed what its assignment does not allow",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let reach = Reach::new(&assignment.task);
    let changes = &it.record.changes;
    for (index, change) in changes.iter().enumerate() {
        if let Some(why) = reach.refuses(change.resource.place()) {
            let message = format!("`{}` was changed, but {why}", show(change.resource.as_str()));
            let help = "undo the change, or have it assigned to a task that may make it";
            report.add(changes.pointer(index), message, help);
        }
    }
}
