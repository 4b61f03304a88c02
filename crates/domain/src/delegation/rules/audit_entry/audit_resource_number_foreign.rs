use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The issue or pull request on record is the one that the instruction names.
    ///
    /// ## Why
    /// A record of another pull request is no record of this action, and may be of one that should not have happened.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"OUTCOME": {"RESOURCE_NUMBER": 43}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"ACTION": {"PARAMETERS": {"PR_NUMBER": 43}}}
    /// ```
    /// ```json accepted
    /// {"OUTCOME": {"RESOURCE_NUMBER": 43}}
    /// ```
    pub static AUDIT_RESOURCE_NUMBER_FOREIGN: AuditEntry = {
        id: "audit-resource-number-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource on record has another number than the one acted on",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some(number) = it.record.outcome.resource_number else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.action.instruction_id.as_str()) else { return };
    if let Some(named) = instruction.action.parameters.number_instead_of(number.get()) {
        report.add(
            Pointer::at("/OUTCOME/RESOURCE_NUMBER"),
            format!("{} is not the number in the instruction, which is {named}", number.get()),
            "record the resource that was acted on",
        );
    }
}
