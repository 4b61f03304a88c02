use crate::delegation::payload::{DelegationResponse, ErrorType, Status};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A policy of the platform blocks (`PLATFORM_CONSTRAINT` with `BLOCKED`); an error of the platform is a
    /// failure (`API_ERROR` with `FAILURE`).
    ///
    /// ## Why
    /// After a failure the requester tries again, after a block it waits for something to change.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "PLATFORM_CONSTRAINT",
    ///     "ERROR_CODE": "422",
    ///     "ERROR_MESSAGE": "a required check has not passed",
    ///     "REMEDIATION_GUIDANCE": "wait for the check",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "STATUS": "BLOCKED",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "PLATFORM_CONSTRAINT",
    ///     "ERROR_CODE": "422",
    ///     "ERROR_MESSAGE": "a required check has not passed",
    ///     "REMEDIATION_GUIDANCE": "wait for the check",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    pub static FAILURE_TYPE_UNFIT: DelegationResponse = {
        id: "failure-type-unfit",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the kind of failure does not fit the status",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(failure) = &it.record.failure_details else { return };
    let unfit = matches!(
        (it.record.status, failure.error_type),
        (Status::Failure, ErrorType::PlatformConstraint) | (Status::Blocked, ErrorType::ApiError)
    );
    if unfit {
        let message = format!("{} does not go with {}", failure.error_type, it.record.status);
        report
            .add(
                Pointer::at("/FAILURE_DETAILS/ERROR_TYPE"),
                message,
                "a policy of the platform is BLOCKED, an error of the platform is FAILURE",
            )
            .label(Pointer::at("/STATUS"), "the status");
    }
}
