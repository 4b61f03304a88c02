use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The references on record are those of the instruction.
    ///
    /// ## Why
    /// They should lead to the same approval. It is a warning, because an executor may have made the reference more
    /// exact.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"HUMAN_APPROVAL_REFERENCE": "comment of a guest on pull request 42"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_REFERENCE_DIFFERS: AuditEntry = {
        id: "audit-reference-differs",
        code: CorrelationMismatch,
        severity: Warning,
        summary: "the entry refers to an approval in other words than the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let (here, there) = (&entry.authorization_evidence, &instruction.authorization);
    let pairs = [
        ("HUMAN_APPROVAL_REFERENCE", &here.human_approval_reference, &there.human_approval_evidence),
        ("ESCALATION_REFERENCE", &here.escalation_reference, &there.escalation_evidence),
    ];
    for (field, here, there) in pairs {
        if let (Some(here), Some(there)) = (here, there)
            && here != there
        {
            let pointer = Pointer::at("/AUTHORIZATION_EVIDENCE").key(field);
            mismatch(pointer.as_str(), here.as_str(), there.as_str(), "the instruction", report);
        }
    }
}
