use crate::work::payload::Assignment;
use crate::work::scope;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A worklog lies in the project, and its path is relative to the root of the project.
    ///
    /// ## Why
    /// What lies elsewhere is not there on another machine, and nobody finds it who has only the project.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"worklog_path": "../T-12.jsonl"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"worklog_path": "worklogs/T-12.jsonl"}}
    /// ```
    pub static WORKLOG_PATH_OUTSIDE: Assignment = {
        id: "worklog-path-outside",
        code: ScopeViolation,
        severity: Warning,
        summary: "the worklog does not lie in the project",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let path = it.record.task.worklog_path.as_str();
    if let Err(refused) = scope::normal(path) {
        let message = format!("`{}` is not a path in the project: {}", show(path), refused.why());
        report.add(Pointer::at("/task/worklog_path"), message, refused.cure());
    }
}
