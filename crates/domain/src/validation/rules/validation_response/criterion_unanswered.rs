use super::request_of;
use crate::validation::matching::unmatched;
use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every criterion of the request is answered.
    ///
    /// ## Why
    /// A criterion that nobody speaks of is taken for one that holds. What could not be looked at is answered SKIP or
    /// BLOCKED, with the reason.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201"}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"verdict": "PARTIAL", "criteria_results": [
    ///   {"criterion_id": "AC-2", "status": "BLOCKED", "evidence": "the payment service is down"},
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"}
    /// ]}
    /// ```
    pub static CRITERION_UNANSWERED: ValidationResponse = {
        id: "criterion-unanswered",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a criterion of the request has no answer",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(request) = request_of(it) else { return };
    let asked = &request.acceptance_criteria;
    let answered = &it.record.criteria_results;
    let open = unmatched(asked, |it| it.id.as_str(), answered, |it| it.criterion_id.as_str());
    for criterion in open.into_iter().map(|index| &asked[index]) {
        report.add(
            Pointer::at("/criteria_results"),
            format!("criterion `{}` of the request is not answered", criterion.id),
            format!("answer `{}`; say SKIP or BLOCKED with the reason if it was not seen", criterion.id),
        );
    }
}
