use crate::delegation::payload::DelegationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A status comes with what shows it: `SUCCESS` with `PLATFORM_EVIDENCE`, `FAILURE` and `BLOCKED` with
    /// `FAILURE_DETAILS`, `INVALID_REQUEST` with `VALIDATION_ERRORS`.
    ///
    /// ## Why
    /// The requester goes on from what is in that part. Without it the status is an assertion.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": null}
    /// ```
    /// ```json rejected
    /// {"STATUS": "INVALID_REQUEST", "PLATFORM_EVIDENCE": null, "VALIDATION_ERRORS": []}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
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
    pub static STATUS_SECTION_MISSING: DelegationResponse = {
        id: "status-section-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "the part that the status calls for is missing",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    for section in it.record.sections() {
        if section.wanted && (section.empty || !section.there) {
            let (lack, add) = if section.empty { ("empty", "fill in") } else { ("missing", "add") };
            let message = format!("the status is {}, and `{}` is {lack}", it.record.status, section.name);
            report
                .add(Pointer::root().key(section.name), message, format!("{add} `{}`", section.name))
                .label(Pointer::at("/STATUS"), "calls for it");
        }
    }
}
