use crate::delegation::payload::{DelegationResponse, Status, is_success};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A platform confirms with an HTTP status from 200 to 299. On any other status the action did not succeed.
    ///
    /// ## Why
    /// The platform's answer is the result, `SUCCESS` the verdict on it, and a verdict follows from its result.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": 422}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"API_RESPONSE_STATUS": 204}}
    /// ```
    pub static SUCCESS_WITH_ERROR_STATUS: DelegationResponse = {
        id: "success-with-error-status",
        code: NonCompliant,
        severity: Error,
        summary: "success on an HTTP status that is none",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    if it.record.status == Status::Success && !is_success(evidence.api_response_status) {
        let message =
            format!("the status is SUCCESS, and the platform answered {}", evidence.api_response_status.get());
        report
            .add(
                Pointer::at("/PLATFORM_EVIDENCE/API_RESPONSE_STATUS"),
                message,
                "report what the platform answered, and the status that follows from it",
            )
            .label(Pointer::at("/STATUS"), "the verdict");
    }
}
