use crate::delegation::payload::{DelegationInstruction, DelegationResponse, Status};
use crate::delegation::policy::{self, Claim};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An instruction that lacks authority is answered `INVALID_REQUEST`, and nothing is done on the platform.
    ///
    /// ## Why
    /// The executor is the last one who can say no. `SUCCESS`, `FAILURE` and `BLOCKED` all say that it tried.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction refused
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL": "NO", "HUMAN_APPROVAL_EVIDENCE": null}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction refused
    /// {"AUTHORIZATION": {"HUMAN_APPROVAL": "NO", "HUMAN_APPROVAL_EVIDENCE": null}}
    /// ```
    /// ```json accepted
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "AUTHORIZATION.HUMAN_APPROVAL",
    ///       "ERROR": "no person approved",
    ///       "EXPECTED": "YES, with HUMAN_APPROVAL_EVIDENCE"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static UNAUTHORIZED_INSTRUCTION_EXECUTED: DelegationResponse = {
        id: "unauthorized-instruction-executed",
        code: AuthorizationMissing,
        severity: Error,
        summary: "an instruction without authority was carried out",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    if it.record.status == Status::InvalidRequest {
        return;
    }
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    if let Some(lack) = policy::first_lack(&Claim::of_instruction(&instruction)) {
        report.add(
            Pointer::at("/STATUS"),
            format!("the instruction lacks authority and was not refused: {}", lack.words()),
            "answer such an instruction with INVALID_REQUEST; if the action was carried out, tell a person",
        );
    }
}
