use crate::delegation::payload::{AuditEntry, Status, YesNo, is_success};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `SUCCESS` is `YES` when, and only when, the answer's `STATUS` is `SUCCESS`, and its `STATUS_CODE` is then
    /// from 200 to 299.
    ///
    /// ## Why
    /// The answer is the result, the outcome the verdict on it, and a verdict follows from its result.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_RESPONSE": {"STATUS_CODE": 404}}
    /// ```
    /// ```json rejected also:audit-error-missing
    /// {"OUTCOME": {"SUCCESS": "NO"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "PLATFORM_RESPONSE": {
    ///     "STATUS_CODE": 503, "STATUS": "FAILURE", "RESOURCE_URL": null, "RESOURCE_ID": null, "RESOURCE_TYPE": null,
    ///     "ERROR_MESSAGE": "the service is not available"
    ///   },
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "pull request 42 is open", "RESOURCE_ID": null, "RESOURCE_NUMBER": null, "SUCCESS": "NO"
    ///   }
    /// }
    /// ```
    pub static AUDIT_OUTCOME_CONTRADICTED: AuditEntry = {
        id: "audit-outcome-contradicted",
        code: NonCompliant,
        severity: Error,
        summary: "the outcome does not follow from what the platform answered",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some(answer) = &it.record.platform_response else { return };
    let succeeded = it.record.outcome.success == YesNo::Yes;
    let pointer = Pointer::at("/OUTCOME/SUCCESS");
    let help = "write the outcome that follows from the platform's answer";
    if succeeded && !is_success(answer.status_code) {
        let message = format!("the outcome is a success, and the platform answered {}", answer.status_code.get());
        report.add(pointer, message, help).label(Pointer::at("/PLATFORM_RESPONSE/STATUS_CODE"), "the answer");
        return;
    }
    // Other words than those of a response are the platform's own and say nothing certain.
    if let Some(status) = Status::parse(answer.status.as_str())
        && succeeded != (status == Status::Success)
    {
        let message = format!("`SUCCESS` is {}, and the platform's answer is {status}", it.record.outcome.success);
        report.add(pointer, message, help).label(Pointer::at("/PLATFORM_RESPONSE/STATUS"), "the answer");
    }
}
