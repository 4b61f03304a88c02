use super::request_of;
use crate::validation::matching::for_each_pair;
use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::CriterionStatus;
use crate::wording::{repeats, says_nothing};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence says more than the criterion itself.
    ///
    /// ## Why
    /// A validator that repeats the criterion has read it. Whether it also looked cannot be seen. It is a warning,
    /// because the words of a criterion may be so exact that little is left to add.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {"acceptance_criteria": [{"id": "AC-1", "description": "an empty cart is answered with 400"}]}
    /// ```
    /// ```json rejected
    /// {"criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "Confirmed: an empty cart is answered with 400."}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {"acceptance_criteria": [{"id": "AC-1", "description": "an empty cart is answered with 400"}]}
    /// ```
    /// ```json accepted
    /// {"criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "curl -d '{}' localhost:3000/checkout printed 400"}
    /// ]}
    /// ```
    pub static EVIDENCE_REPEATS_CRITERION: ValidationResponse = {
        id: "evidence-repeats-criterion",
        code: AcceptanceFailed,
        severity: Warning,
        summary: "the evidence for a criterion only repeats its words",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(request) = request_of(it) else { return };
    let (answered, asked) = (&it.record.criteria_results, &request.acceptance_criteria);
    for_each_pair(
        answered,
        |it| it.criterion_id.as_str(),
        asked,
        |it| it.id.as_str(),
        |index, result, criterion| {
            let repeated = |evidence: &str| {
                !says_nothing(evidence) && criterion.description.inspect(|description| repeats(evidence, description))
            };
            if result.status == CriterionStatus::Pass && result.evidence.inspect(repeated) {
                report.add(
                    Pointer::at("/criteria_results").item(index).key("evidence"),
                    format!("the evidence for `{}` only repeats the criterion", result.criterion_id),
                    "say what was seen and where: a file and line, a command and its output, an address and its answer",
                );
            }
        },
    );
}
