use crate::delegation::payload::{AuditEntry, DelegationResponse, Status, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry holds what was sent and what came back: both where the action succeeded, and the request wherever
    /// there is an answer or, with the response given, where the action was tried.
    ///
    /// ## Why
    /// Request and answer are the evidence; the rest of the entry is what someone says about them.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_REQUEST": null}
    /// ```
    /// ```json with delegation_response
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "API_ERROR",
    ///     "ERROR_CODE": "503",
    ///     "ERROR_MESSAGE": "the service is not available",
    ///     "REMEDIATION_GUIDANCE": "try again in a minute",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    /// ```json rejected
    /// {
    ///   "PLATFORM_REQUEST": null,
    ///   "PLATFORM_RESPONSE": null,
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "nothing was done", "RESOURCE_ID": null, "RESOURCE_TYPE": null, "RESOURCE_NUMBER": null,
    ///     "SUCCESS": "NO"
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_response
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {"FIELD": "ACTION.PARAMETERS.PR_NUMBER", "ERROR": "it does not exist", "EXPECTED": "one that exists"}
    ///   ]
    /// }
    /// ```
    /// ```json accepted
    /// {
    ///   "PLATFORM_REQUEST": null,
    ///   "PLATFORM_RESPONSE": null,
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "nothing was done", "RESOURCE_ID": null, "RESOURCE_TYPE": null, "RESOURCE_NUMBER": null,
    ///     "SUCCESS": "NO"
    ///   }
    /// }
    /// ```
    pub static AUDIT_PLATFORM_SECTION_MISSING: AuditEntry = {
        id: "audit-platform-section-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "what was sent to the platform or came back is not on record",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let succeeded = entry.outcome.success == YesNo::Yes;
    let response = it.other::<DelegationResponse>(entry.action.response_id.as_str());
    let tried = response.is_some_and(|response| response.status != Status::InvalidRequest);
    if entry.platform_request.is_none() && (succeeded || tried || entry.platform_response.is_some()) {
        let message = "the action was tried, and what was sent to the platform is not on record";
        report.add(Pointer::at("/PLATFORM_REQUEST"), message, "add the request as it was sent, with secrets redacted");
    }
    if entry.platform_response.is_none() && succeeded {
        let message = "the action succeeded, and what the platform answered is not on record";
        report.add(Pointer::at("/PLATFORM_RESPONSE"), message, "add the answer as it came");
    }
}
