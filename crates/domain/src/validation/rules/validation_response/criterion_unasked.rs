use super::request_of;
use crate::validation::matching::unmatched;
use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{FINDINGS_MAX, Report, Subject, rule};

rule! {
    /// No criterion is answered that the request does not have.
    ///
    /// ## Why
    /// An answer for something that was not asked counts towards the verdict, and so can carry a request whose own
    /// criteria failed.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {}
    /// ```
    /// ```json rejected
    /// {"verdict": "PASS", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"},
    ///   {"criterion_id": "AC-7", "status": "PASS", "evidence": "the README has a new section"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {}
    /// ```
    /// ```json accepted
    /// {"criteria_results": [{"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"}]}
    /// ```
    pub static CRITERION_UNASKED: ValidationResponse = {
        id: "criterion-unasked",
        code: CorrelationMismatch,
        severity: Error,
        summary: "an answer is for a criterion that the request does not have",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(request) = request_of(it) else { return };
    let asked = &request.acceptance_criteria;
    let answered = &it.record.criteria_results;
    let strange = unmatched(answered, |it| it.criterion_id.as_str(), asked, |it| it.id.as_str());
    for (count, index) in strange.into_iter().enumerate() {
        let id = answered[index].criterion_id.as_str();
        let place = Pointer::at("/criteria_results").item(index).key("criterion_id");
        let message = format!("the request has no criterion `{id}`");
        // What is beyond the limit is only counted, and not worth a search.
        let sought = if count < FINDINGS_MAX { &**asked } else { &[] };
        let mut spelt = sought.iter().filter(|it| it.id.as_str().eq_ignore_ascii_case(id));
        match (spelt.next(), spelt.next()) {
            (Some(meant), None) => {
                let help = format!("write `{}`, as the request does", meant.id);
                let repair = Repair::replace(place.clone(), meant.id.as_str(), "spell the id as the request does");
                report.add(place, message, help).repair(repair);
            }
            _ => {
                report.add(place, message, "name a criterion of the request, or remove this answer");
            }
        }
    }
}
