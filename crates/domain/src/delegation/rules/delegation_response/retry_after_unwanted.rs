use crate::delegation::payload::{DelegationResponse, YesNo};
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `RETRY_AFTER` says how long to wait before a retry, and so stands only beside `RETRY_ALLOWED` `YES`.
    ///
    /// ## Why
    /// An agent that reads the one field waits and tries again; one that reads the other stops.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "STATUS": "FAILURE",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "FAILURE_DETAILS": {
    ///     "ERROR_TYPE": "API_ERROR",
    ///     "ERROR_CODE": "503",
    ///     "ERROR_MESSAGE": "the service is not available",
    ///     "REMEDIATION_GUIDANCE": "try again in a minute",
    ///     "RETRY_ALLOWED": "NO",
    ///     "RETRY_AFTER": "60"
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
    ///     "ERROR_TYPE": "API_ERROR",
    ///     "ERROR_CODE": "503",
    ///     "ERROR_MESSAGE": "the service is not available",
    ///     "REMEDIATION_GUIDANCE": "try again in a minute",
    ///     "RETRY_ALLOWED": "YES",
    ///     "RETRY_AFTER": "60"
    ///   }
    /// }
    /// ```
    pub static RETRY_AFTER_UNWANTED: DelegationResponse = {
        id: "retry-after-unwanted",
        code: SchemaInvalid,
        severity: Error,
        summary: "a time to wait before a retry that is not allowed",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(failure) = &it.record.failure_details else { return };
    if failure.retry_allowed == YesNo::No && failure.retry_after.is_some() {
        let pointer = Pointer::at("/FAILURE_DETAILS/RETRY_AFTER");
        report
            .add(pointer.clone(), "a retry is not allowed, and a time to wait for it is given", "leave the time out")
            .label(Pointer::at("/FAILURE_DETAILS/RETRY_ALLOWED"), "not allowed")
            .repair(Repair::remove(pointer, "leave out the time to wait"));
    }
}
