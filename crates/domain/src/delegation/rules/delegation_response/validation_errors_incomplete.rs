use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use crate::delegation::policy::{self, Claim};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `VALIDATION_ERRORS` names all that is wrong with an instruction, and so the authority that it lacks.
    ///
    /// ## Why
    /// The requester corrects what is named and asks again, and is refused again for what was not.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction refused
    /// {"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}}
    /// ```
    /// ```json rejected
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "ACTION.PARAMETERS.PR_NUMBER",
    ///       "ERROR": "there is no pull request 42",
    ///       "EXPECTED": "a pull request that is there"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction refused
    /// {"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}}
    /// ```
    /// ```json accepted
    /// {
    ///   "STATUS": "INVALID_REQUEST",
    ///   "PLATFORM_EVIDENCE": null,
    ///   "VALIDATION_ERRORS": [
    ///     {
    ///       "FIELD": "REQUESTER.AUTHORIZATION_LEVEL",
    ///       "ERROR": "closing needs more than AUTONOMOUS",
    ///       "EXPECTED": "HUMAN_APPROVED, with the evidence of the approval"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static VALIDATION_ERRORS_INCOMPLETE: DelegationResponse = {
        id: "validation-errors-incomplete",
        code: CorrelationMismatch,
        severity: Warning,
        summary: "an invalid request lacks authority and its errors do not say so",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(errors) = &it.record.validation_errors else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let Some(lack) = policy::first_lack(&Claim::of_instruction(&instruction)) else { return };
    let said = errors.iter().any(|error| {
        let field = error.field.as_str();
        field.starts_with("AUTHORIZATION")
            || field.starts_with("REQUESTER")
            || field == "ACTION"
            || field == "ACTION.TYPE"
    });
    if !said {
        let message = format!("the instruction also lacks authority: {}", lack.words());
        report.add(Pointer::at("/VALIDATION_ERRORS"), message, "add an error for the field that lacks it");
    }
}
