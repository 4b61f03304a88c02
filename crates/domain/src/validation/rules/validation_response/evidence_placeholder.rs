use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::CriterionStatus;
use crate::wording::says_nothing;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// What is given as evidence for PASS says what was seen.
    ///
    /// ## Why
    /// `ok`, `verified` or `n/a` is the verdict once more, not what it rests on. Evidence names a file, an output, an
    /// answer, a picture: something that another can look at.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "Verified, works as expected."}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "12 tests pass in tests/cart.rs"}]}
    /// ```
    pub static EVIDENCE_PLACEHOLDER: ValidationResponse = {
        id: "evidence-placeholder",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a criterion passed on words that show nothing",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    for (index, result) in it.record.criteria_results.iter().enumerate() {
        if result.status == CriterionStatus::Pass && result.evidence.inspect(says_nothing) {
            report.add(
                Pointer::at("/criteria_results").item(index).key("evidence"),
                format!("the evidence for `{}` shows nothing: `{}`", result.criterion_id, result.evidence.escaped()),
                "say what was seen and where: a file and line, a command and its output, an address and its answer",
            );
        }
    }
}
