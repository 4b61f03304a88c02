use crate::delegation::payload::DelegationInstruction;
use crate::rewriting::has_rival;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two different instructions have one id. Copies that say the same are one instruction.
    ///
    /// ## Why
    /// Responses and audit entries name an instruction by its id alone. If it means two things, an action that was
    /// carried out can be shown with the authority of another.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {"AUDIT_CONTEXT": {"REASON": "the branch is no longer needed"}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    /// ```json with delegation_instruction
    /// {"INSTRUCTION_ID": "DI-2025-12-25-002", "AUDIT_CONTEXT": {"REASON": "the branch is no longer needed"}}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static INSTRUCTION_ID_REUSED: DelegationInstruction = {
        id: "instruction-id-reused",
        code: CorrelationMismatch,
        severity: Error,
        summary: "two different instructions have one id",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationInstruction>, report: &mut Report) {
    let id = it.record.instruction_id.as_str();
    if has_rival(it, id) {
        let message = format!("another instruction given with it is `{id}` too, and the two differ");
        report.add(Pointer::at("/INSTRUCTION_ID"), message, "give each instruction an id of its own");
    }
}
