use crate::delegation::payload::{AuditEntry, DelegationResponse, Status};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// For an instruction that was answered `INVALID_REQUEST` nothing was sent, and so the entry holds neither
    /// `PLATFORM_REQUEST` nor `PLATFORM_RESPONSE`.
    ///
    /// ## Why
    /// Either something was sent, and the response is false, or nothing was, and the entry is.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {"FIELD": "ACTION.PARAMETERS.PR_NUMBER", "ERROR": "it does not exist", "EXPECTED": "one that exists"}
    ///   ]
    /// }
    /// ```
    /// ```json rejected
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
    pub static AUDIT_PLATFORM_SECTION_INVENTED: AuditEntry = {
        id: "audit-platform-section-invented",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a request to the platform on record that was never sent",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(response) = it.other::<DelegationResponse>(entry.action.response_id.as_str()) else { return };
    if response.status != Status::InvalidRequest {
        return;
    }
    let sections = [
        ("PLATFORM_REQUEST", entry.platform_request.is_some()),
        ("PLATFORM_RESPONSE", entry.platform_response.is_some()),
    ];
    for (section, there) in sections {
        if there {
            let message = format!("the response is INVALID_REQUEST, so nothing was sent, and `{section}` is on record");
            let help = format!("leave `{section}` out if nothing was sent; if something was, correct the response");
            report.add(Pointer::root().key(section), message, help);
        }
    }
}
