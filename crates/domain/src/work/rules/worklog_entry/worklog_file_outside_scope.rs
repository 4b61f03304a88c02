use crate::work::payload::{Assignment, WorklogEntry};
use crate::work::places::Placed;
use crate::work::reach::Reach;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Every file that a worklog names as touched lies inside the lock scope of the assignment and outside its
    /// forbidden scope. The worklog itself may always be written.
    ///
    /// ## Why
    /// The worklog is written while the work goes on, so it shows a step out of the scope before the result does.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```jsonl rejected
    /// {"files_touched": ["src/money/round.rs", "src/api/totals.rs"]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"lock_scope": ["src/money"]}}
    /// ```
    /// ```jsonl accepted
    /// {"files_touched": ["src/money/round.rs", "worklogs/T-12.jsonl"]}
    /// ```
    pub static WORKLOG_FILE_OUTSIDE_SCOPE: WorklogEntry = {
        id: "worklog-file-outside-scope",
        code: ScopeViolation,
        severity: Error,
        summary: "a worker touched what its assignment does not allow",
        check: check,
    }
}

fn check(it: &Subject<'_, WorklogEntry>, report: &mut Report) {
    if it.others.is_empty() || it.record.files_touched.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let reach = Reach::new(&assignment.task);
    for (index, file) in it.record.files_touched.iter().enumerate() {
        if let Some(why) = reach.refuses(file.place()) {
            let message = format!("`{}` was touched, but {why}", show(file.as_str()));
            let help = "undo the change, or have it assigned to a task that may make it";
            report.add(Pointer::at("/files_touched").item(index), message, help);
        }
    }
}
