use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `GOVERNANCE_CONTEXT` is the instruction's `AUDIT_CONTEXT`.
    ///
    /// ## Why
    /// Why something was asked for is known to the one who asked, and not to be told anew afterwards.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"GOVERNANCE_CONTEXT": {"REASON": "it was old"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_CONTEXT_MISMATCH: AuditEntry = {
        id: "audit-context-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry gives another context than the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let (here, there) = (&entry.governance_context, &instruction.audit_context);
    let pairs = [
        ("/GOVERNANCE_CONTEXT/REQUIREMENT_ID", &here.requirement_id, &there.requirement_id),
        ("/GOVERNANCE_CONTEXT/BUILD_PHASE", &here.build_phase, &there.build_phase),
        ("/GOVERNANCE_CONTEXT/GOVERNANCE_RULE", &here.governance_rule, &there.governance_rule),
        ("/GOVERNANCE_CONTEXT/REASON", &here.reason, &there.reason),
    ];
    for (pointer, here, there) in pairs {
        mismatch(pointer, here.as_str(), there.as_str(), "the instruction", report);
    }
}
