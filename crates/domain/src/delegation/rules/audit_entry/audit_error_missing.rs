use crate::delegation::payload::{AuditEntry, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Where the platform answered and the action did not succeed, the entry says what the platform said was wrong.
    ///
    /// ## Why
    /// The message is what someone looks for when the same thing happens again.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "PLATFORM_RESPONSE": {"STATUS_CODE": 503, "STATUS": "FAILURE"},
    ///   "OUTCOME": {"SUCCESS": "NO"}
    /// }
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
    pub static AUDIT_ERROR_MISSING: AuditEntry = {
        id: "audit-error-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a failure on record without what the platform said",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some(answer) = &it.record.platform_response else { return };
    if it.record.outcome.success == YesNo::No && answer.error_message.is_none() {
        let message = "the action did not succeed, and what the platform said is not on record";
        report.add(Pointer::at("/PLATFORM_RESPONSE/ERROR_MESSAGE"), message, "add the message as the platform gave it");
    }
}
