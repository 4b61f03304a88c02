use crate::work::payload::{ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, is_blank, rule};

rule! {
    /// Every answer to a criterion says what shows it, also when the work is blocked or failed.
    ///
    /// ## Why
    /// A failed criterion without evidence tells whoever takes over nothing but that it failed. A criterion that was
    /// not looked at is left out.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "status": "blocked",
    ///   "acceptance_check": [{"criterion": "All tests pass", "status": "fail", "evidence": ""}]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "blocked", "acceptance_check": []}
    /// ```
    pub static ANSWER_EVIDENCE_BLANK: SubagentResult = {
        id: "answer-evidence-blank",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an answer to a criterion has no evidence",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.record.status == ResultStatus::Done {
        return;
    }
    let answers = it.record.acceptance_check.iter().enumerate();
    for (index, _) in answers.filter(|(_, answer)| is_blank(&answer.evidence)) {
        let pointer = Pointer::at("/acceptance_check").item(index).key("evidence");
        report.add(
            pointer,
            "the evidence is empty",
            "say what shows it, or leave out a criterion that was not looked at",
        );
    }
}
