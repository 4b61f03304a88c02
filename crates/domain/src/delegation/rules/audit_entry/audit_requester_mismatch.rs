use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The requester on record is that of the instruction: kind, instance, repository and authorization level.
    ///
    /// ## Why
    /// The record says who answers for the action.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"REQUESTER": {"REPOSITORY": "acme/bank"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_REQUESTER_MISMATCH: AuditEntry = {
        id: "audit-requester-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry names another requester than the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let (here, there) = (&entry.requester, &instruction.requester);
    let pairs = [
        ("/REQUESTER/AGENT_TYPE", here.agent_type.as_written(), there.agent_type.as_str()),
        ("/REQUESTER/AGENT_INSTANCE_ID", here.agent_instance_id.as_written(), there.agent_instance_id.as_str()),
        ("/REQUESTER/REPOSITORY", here.repository.as_written(), there.repository.as_str()),
        ("/REQUESTER/AUTHORIZATION_LEVEL", here.level.as_written(), there.level.as_str()),
    ];
    for (pointer, here, there) in pairs {
        mismatch(pointer, here, there, "the instruction", report);
    }
}
