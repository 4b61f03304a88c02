use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::CriterionStatus;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, is_blank, rule};

rule! {
    /// A criterion that failed comes with what has to be done.
    ///
    /// ## Why
    /// The failure goes back to whoever did the work. Without a remedy they have to look for the fault that the
    /// validator has just seen.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"verdict": "FAIL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "FAIL", "evidence": "POST /checkout answered 500", "remediation": " "}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"verdict": "FAIL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "FAIL", "evidence": "POST /checkout answered 500",
    ///    "remediation": "check for an empty cart before the price is computed, src/cart.rs:88"}
    /// ]}
    /// ```
    pub static REMEDIATION_MISSING: ValidationResponse = {
        id: "remediation-missing",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "a failed criterion comes without a remedy",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    for (index, result) in it.record.criteria_results.iter().enumerate() {
        let remedy = result.remediation.as_deref().unwrap_or_default();
        if result.status == CriterionStatus::Fail && is_blank(remedy) {
            report.add(
                Pointer::at("/criteria_results").item(index).key("remediation"),
                format!("criterion `{}` failed, and nothing says what to do", result.criterion_id),
                "add `remediation` with the steps that would make it hold",
            );
        }
    }
}
