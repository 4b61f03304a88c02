use crate::work::payload::{Assignment, SubagentResult};
use crate::work::places::Places;
use crate::work::reach::Reach;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every file that was really changed inside the lock scope is among the changes of the result. A folder stands for
    /// what is inside of it; the task's own worklog need not be listed.
    ///
    /// ## Why
    /// Whoever reviews the result looks at what it lists. What is left out is merged unseen.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```json outside
    /// {"changed": ["src/money/parse.rs", "src/money/round.rs"]}
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
    /// {"changed": ["src/money/half/even.rs", "src/money/half/up.rs", "src/money/round.rs", "worklogs/T-12.jsonl"]}
    /// ```
    /// ```json accepted
    /// {
    ///   "changes": [
    ///     {"resource": "src/money/round.rs", "action": "edit"},
    ///     {"resource": "src/money/half", "action": "create"}
    ///   ]
    /// }
    /// ```
    pub static CHANGE_UNDECLARED: SubagentResult = {
        id: "change-undeclared",
        code: IntegrityMismatch,
        severity: Error,
        summary: "a worker changed a file and did not say so",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let Some(changed) = it.outside.changed.as_ref().filter(|changed| !changed.is_empty()) else { return };
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let reach = Reach::new(&assignment.task);
    let changes = &it.record.changes;
    let declared = Places::new(changes, |_| true);
    for path in changed {
        // What lies outside is another rule's finding, whether it was declared or not.
        let is_own = reach.refuses(path).is_none() && !reach.is_worklog(path);
        if is_own && declared.holding(path).is_none() {
            let message = format!("`{}` was changed and is not among the changes", show(path));
            report.add(changes.pointer_of_list(), message, "list it, or undo the change");
        }
    }
}
