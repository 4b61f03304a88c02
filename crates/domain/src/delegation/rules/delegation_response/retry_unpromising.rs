use crate::delegation::payload::{DelegationResponse, ErrorType, YesNo};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A retry is allowed where the same instruction may succeed later. A permission that is lacking or a parameter
    /// that is wrong does not mend itself.
    ///
    /// ## Why
    /// Retries that can only fail use up the attempts after which a person is asked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "AUTHORIZATION_FAILURE",
    ///     "ERROR_CODE": "403",
    ///     "ERROR_MESSAGE": "the token lacks a scope",
    ///     "REMEDIATION_GUIDANCE": "have the token given the scope",
    ///     "RETRY_ALLOWED": "YES"
    ///   }
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "AUTHORIZATION_FAILURE",
    ///     "ERROR_CODE": "403",
    ///     "ERROR_MESSAGE": "the token lacks a scope",
    ///     "REMEDIATION_GUIDANCE": "have the token given the scope",
    ///     "RETRY_ALLOWED": "NO"
    ///   }
    /// }
    /// ```
    pub static RETRY_UNPROMISING: DelegationResponse = {
        id: "retry-unpromising",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a retry is allowed where it can only fail again",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(failure) = &it.record.failure_details else { return };
    let stays = matches!(failure.error_type, ErrorType::AuthorizationFailure | ErrorType::ValidationFailure);
    if failure.retry_allowed == YesNo::Yes && stays {
        let message = format!("a retry is allowed, and {} does not mend itself", failure.error_type);
        let help = "set `RETRY_ALLOWED` to NO, and say in `REMEDIATION_GUIDANCE` what must change first";
        report
            .add(Pointer::at("/FAILURE_DETAILS/RETRY_ALLOWED"), message, help)
            .label(Pointer::at("/FAILURE_DETAILS/ERROR_TYPE"), "this failure");
    }
}
