use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationResponse};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The response that an entry names answers the same instruction, and names this entry, or the one that this
    /// entry corrects.
    ///
    /// ## Why
    /// Instruction, response and entry are one matter. Where one of three ids differs, it is not known which of
    /// them is.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {
    ///   "AUDIT_ENTRY_ID": "PAA-2025-12-25-007",
    ///   "AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-25-007.md"
    /// }
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {
    ///   "AUDIT_ENTRY_ID": "PAA-2025-12-25-002",
    ///   "TIMESTAMP_UTC": "2025-12-25T12:00:00Z",
    ///   "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}
    /// }
    /// ```
    pub static AUDIT_RESPONSE_MISMATCH: AuditEntry = {
        id: "audit-response-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the response names another entry or another instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(response) = it.other::<DelegationResponse>(entry.action.response_id.as_str()) else { return };
    mismatch(
        "/ACTION/INSTRUCTION_ID",
        entry.action.instruction_id.as_str(),
        response.instruction_id.as_str(),
        "the response",
        report,
    );
    // A correction comes after the response, which can only name what is corrected.
    if entry.integrity.supersedes.is_none() {
        let (here, there) = (entry.audit_entry_id.as_str(), response.audit_entry_id.as_str());
        mismatch("/AUDIT_ENTRY_ID", here, there, "the response", report);
    }
}
