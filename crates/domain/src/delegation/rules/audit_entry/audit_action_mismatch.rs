use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationInstruction};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The action on record is the one that the instruction asked for.
    ///
    /// ## Why
    /// What was done must be what was asked, or else it was done without being asked.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"ACTION": {"TYPE": "MERGE_PULL_REQUEST"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_ACTION_MISMATCH: AuditEntry = {
        id: "audit-action-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry is about another action than the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let (here, there) = (entry.action.kind.as_written(), instruction.action.kind().as_str());
    mismatch("/ACTION/TYPE", here, there, "the instruction", report);
}
