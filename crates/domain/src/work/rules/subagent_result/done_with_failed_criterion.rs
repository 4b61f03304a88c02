use crate::work::payload::{AcceptanceStatus, ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Work that is called done meets every criterion.
    ///
    /// ## Why
    /// A failed criterion means that the work is not done, however much of it is.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "status": "done",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "fail", "evidence": "2 of 14 failed"}]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "status": "failed",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "fail", "evidence": "2 of 14 failed"}]
    /// }
    /// ```
    pub static DONE_WITH_FAILED_CRITERION: SubagentResult = {
        id: "done-with-failed-criterion",
        code: AcceptanceFailed,
        severity: Error,
        summary: "work is called done although a criterion failed",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.record.status != ResultStatus::Done {
        return;
    }
    let answers = it.record.acceptance_check.iter().enumerate();
    for (index, answer) in answers.filter(|(_, answer)| answer.status == AcceptanceStatus::Fail) {
        let message = format!("the work is called done, but `{}` failed", answer.criterion.escaped());
        let pointer = Pointer::at("/acceptance_check").item(index).key("status");
        report.add(pointer, message, "finish the work, or answer with status `failed` or `blocked`");
    }
}
