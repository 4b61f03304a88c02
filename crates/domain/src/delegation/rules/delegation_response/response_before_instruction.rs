use crate::delegation::clock;
use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A response is not before its instruction, unless it declines the time that the instruction gives. Times within one
    /// second are in no order.
    ///
    /// ## Why
    /// What was answered before it was asked answers something else.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {"TIMESTAMP_UTC": "2025-12-25T10:31:00Z"}
    /// ```
    /// ```json rejected
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
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"TIMESTAMP_UTC": "2025-12-25T10:30:15.5Z"}
    /// ```
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
    /// ```json with delegation_instruction
    /// {"TIMESTAMP_UTC": "2025-12-25T10:31:00Z"}
    /// ```
    /// ```json accepted
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {"FIELD": "TIMESTAMP_UTC", "ERROR": "is yet to come", "EXPECTED": "a time that has passed"}
    ///   ]
    /// }
    /// ```
    pub static RESPONSE_BEFORE_INSTRUCTION: DelegationResponse = {
        id: "response-before-instruction",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the response is older than its instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    if !it.record.declines_the_time() && clock::before(&it.record.timestamp, &instruction.timestamp) {
        let (answered, given) = (it.record.timestamp.as_str(), instruction.timestamp.as_str());
        report.add(
            Pointer::at("/TIMESTAMP_UTC"),
            format!("answered at `{answered}`, before the instruction was given at `{given}`"),
            "write the time at which the instruction was answered",
        );
    }
}
