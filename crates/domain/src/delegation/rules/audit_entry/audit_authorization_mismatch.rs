use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The authority on record is that of the instruction: each status, and the files that show them.
    ///
    /// ## Why
    /// An entry that says `YES` where the instruction said `NO` makes the authority up.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"GOVERNANCE_STATUS": "OVERRIDE"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_AUTHORIZATION_MISMATCH: AuditEntry = {
        id: "audit-authorization-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry has other authority on record than the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let (here, there) = (&entry.authorization_evidence, &instruction.authorization);
    let pairs = [
        ("GOVERNANCE_STATUS", here.governance_status.as_written(), there.governance_status.as_str()),
        ("GOVERNANCE_EVIDENCE_PATH", here.governance_evidence_path.as_str(), there.governance_evidence.as_str()),
        ("QA_STATUS", here.qa_status.as_written(), there.qa_status.as_str()),
        ("QA_EVIDENCE_PATH", here.qa_evidence_path.as_str(), there.qa_evidence.as_str()),
        ("HUMAN_APPROVAL", here.human_approval.as_written(), there.human_approval.as_str()),
        ("ESCALATION_COMPLETED", here.escalation_completed.as_written(), there.escalation_completed.as_str()),
    ];
    for (field, here, there) in pairs {
        if here != there {
            let pointer = Pointer::at("/AUTHORIZATION_EVIDENCE").key(field);
            mismatch(pointer.as_str(), here, there, "the instruction", report);
        }
    }
}
