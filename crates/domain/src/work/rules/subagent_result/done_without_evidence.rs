use crate::work::payload::{ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, is_blank, rule};

rule! {
    /// Work that is called done has evidence for every criterion.
    ///
    /// ## Why
    /// Pass is a claim. Evidence is what somebody else can look at: a command and its outcome, a file, a link.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "status": "done",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "pass", "evidence": " "}]
    /// }
    /// ```
    /// Letters that cannot be seen show nothing either:
    /// ```json rejected
    /// {
    ///   "status": "done",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "pass", "evidence": "\u200b\u2800"}]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "status": "done",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "pass", "evidence": "cargo test: 14 passed"}]
    /// }
    /// ```
    pub static DONE_WITHOUT_EVIDENCE: SubagentResult = {
        id: "done-without-evidence",
        code: AcceptanceFailed,
        severity: Error,
        summary: "work is called done without evidence for a criterion",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.record.status != ResultStatus::Done {
        return;
    }
    let answers = it.record.acceptance_check.iter().enumerate();
    for (index, answer) in answers.filter(|(_, answer)| is_blank(&answer.evidence)) {
        let message = format!("the work is called done, but nothing shows `{}`", answer.criterion.escaped());
        let pointer = Pointer::at("/acceptance_check").item(index).key("evidence");
        report.add(pointer, message, "name what was run or looked at, and what came of it");
    }
}
