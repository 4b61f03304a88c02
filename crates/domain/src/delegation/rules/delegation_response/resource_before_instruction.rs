use crate::delegation::action::Effect;
use crate::delegation::clock;
use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// What an action made or changed was made or changed after the instruction was given: `CREATED_AT` of what it
    /// made, `UPDATED_AT` of what it changed.
    ///
    /// ## Why
    /// A resource that was so already is evidence of another action.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"PLATFORM_EVIDENCE": {"UPDATED_AT": "2025-12-25T10:29:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {"PLATFORM_EVIDENCE": {"CREATED_AT": "2025-12-20T08:00:00Z", "UPDATED_AT": "2025-12-25T10:30:00Z"}}
    /// ```
    pub static RESOURCE_BEFORE_INSTRUCTION: DelegationResponse = {
        id: "resource-before-instruction",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the resource was made or changed before it was asked for",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(evidence) = &it.record.platform_evidence else { return };
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let (field, time) = match instruction.action.kind().info().effect {
        Effect::Creates => ("CREATED_AT", &evidence.created_at),
        Effect::Updates => ("UPDATED_AT", &evidence.updated_at),
        Effect::Deletes => return,
    };
    if let Some(time) = time
        && clock::before(time, &instruction.timestamp)
    {
        report.add(
            Pointer::at("/PLATFORM_EVIDENCE").key(field),
            format!(
                "`{}` is before the instruction, which was given at `{}`",
                time.as_str(),
                instruction.timestamp.as_str()
            ),
            "show the resource as the platform gave it after the action",
        );
    }
}
