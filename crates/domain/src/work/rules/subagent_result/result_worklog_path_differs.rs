use crate::work::payload::{Assignment, SubagentResult};
use crate::work::scope;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The worklog is kept where the assignment says.
    ///
    /// ## Why
    /// Whoever looks for the log of a task looks where the assignment puts it.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"worklog_path": "worklogs/T-12.jsonl"}}
    /// ```
    /// ```json rejected
    /// {"worklog_path": "notes/T-12.jsonl"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"worklog_path": "worklogs/T-12.jsonl"}}
    /// ```
    /// ```json accepted
    /// {"worklog_path": "./worklogs/T-12.jsonl"}
    /// ```
    pub static RESULT_WORKLOG_PATH_DIFFERS: SubagentResult = {
        id: "result-worklog-path-differs",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the worklog is not the one that was assigned",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let (named, assigned) = (it.record.worklog_path.as_str(), assignment.task.worklog_path.as_str());
    let same = match (scope::normal(named), scope::normal(assigned)) {
        (Ok(named), Ok(assigned)) => named == assigned,
        _ => named == assigned,
    };
    if !same {
        let message = format!("the worklog is `{}`, the assignment says `{}`", show(named), show(assigned));
        report.add(Pointer::at("/worklog_path"), message, "keep the worklog where the assignment says");
    }
}
