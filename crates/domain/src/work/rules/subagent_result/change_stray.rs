use crate::work::payload::{Assignment, SubagentResult};
use crate::work::reach::Reach;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Nothing was really changed outside the lock scope or inside the forbidden scope, whatever the result lists. What
    /// lies in the area of another task is that one's to answer for.
    ///
    /// ## Why
    /// A result that keeps silent about a change outside of its scope would otherwise pass.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json outside
    /// {"changed": ["Cargo.toml", "src/money/round.rs"]}
    /// ```
    /// ```json rejected
    /// {"changes": [{"resource": "src/money/round.rs", "action": "edit"}]}
    /// ```
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"], "forbidden_scope": ["src/api"]}}
    /// ```
    /// ```json outside
    /// {"changed": ["src/api/totals.rs", "src/money/round.rs"]}
    /// ```
    /// ```json rejected
    /// {"changes": [{"resource": "src/money/round.rs", "action": "edit"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"], "worklog_path": "worklogs/T-12.jsonl"}}
    /// ```
    /// ```json outside
    /// {"changed": ["src/money/round.rs", "worklogs/T-12.jsonl"]}
    /// ```
    /// ```json accepted
    /// {"changes": [{"resource": "src/money/round.rs", "action": "edit"}]}
    /// ```
    pub static CHANGE_STRAY: SubagentResult = {
        id: "change-stray",
        code: ScopeViolation,
        severity: Error,
        summary: "files were changed that the assignment does not allow to change",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let Some(changed) = it.outside.changed.as_ref().filter(|changed| !changed.is_empty()) else { return };
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let reach = Reach::new(&assignment.task);
    for path in changed {
        if let Some(why) = reach.refuses(path) {
            let message = format!("`{}` was really changed, but {why}", show(path));
            let help = "undo the change, or have it assigned to a task that may make it";
            report.add(it.record.changes.pointer_of_list(), message, help);
        }
    }
}
