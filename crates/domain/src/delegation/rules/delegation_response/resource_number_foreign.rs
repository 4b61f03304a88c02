use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The issue or pull request in the evidence is the one that the instruction names.
    ///
    /// ## Why
    /// Evidence of another pull request is not evidence of this action, and may be of one that should not have
    /// happened.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_NUMBER": 43}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"PARAMETERS": {"PR_NUMBER": 43}}}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"RESOURCE_NUMBER": 43}}
    /// ```
    pub static RESOURCE_NUMBER_FOREIGN: DelegationResponse = {
        id: "resource-number-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource has another number than the one acted on",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(number) = evidence.resource_number else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    if let Some(named) = instruction.action.parameters.number_instead_of(number.get()) {
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE/RESOURCE_NUMBER"),
            format!("{} is not the number in the instruction, which is {named}", number.get()),
            "show the resource that the instruction names",
        );
    }
}
