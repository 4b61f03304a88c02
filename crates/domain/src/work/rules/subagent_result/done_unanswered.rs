use crate::work::payload::{ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Work that is called done answers its criteria.
    ///
    /// ## Why
    /// Done means that every criterion is met. Without answers nobody has looked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "done", "acceptance_check": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "blocked", "acceptance_check": []}
    /// ```
    pub static DONE_UNANSWERED: SubagentResult = {
        id: "done-unanswered",
        code: AcceptanceFailed,
        severity: Error,
        summary: "work is called done without an answer to any criterion",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.record.status == ResultStatus::Done && it.record.acceptance_check.is_empty() {
        let message = "the work is called done, but no criterion is answered";
        report.add(
            Pointer::at("/acceptance_check"),
            message,
            "answer every criterion of the assignment, with evidence",
        );
    }
}
