use crate::delegation::payload::{AuditEntry, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The audit entry that a response names is about this response and its instruction.
    ///
    /// ## Why
    /// The entry is the proof of the action. That of another proves nothing here.
    ///
    /// ## Rejected
    /// ```json with audit_entry
    /// {"ACTION": {"RESPONSE_ID": "DR-2025-12-25-007"}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with audit_entry
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_ENTRY_FOREIGN: DelegationResponse = {
        id: "audit-entry-foreign",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the audit entry is of another response",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(entry) = it.other::<AuditEntry>(it.record.audit_entry_id.as_str()) else { return };
    let pairs = [
        (entry.action.response_id.as_str(), it.record.response_id.as_str()),
        (entry.action.instruction_id.as_str(), it.record.instruction_id.as_str()),
    ];
    for (there, here) in pairs {
        if there != here {
            let message = format!("audit entry `{}` is about `{there}`, not about `{here}`", it.record.audit_entry_id);
            report.add(Pointer::at("/AUDIT_ENTRY_ID"), message, "name the entry that was written for this response");
        }
    }
}
