use crate::delegation::clock;
use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry corrects an earlier one about the same instruction, which no other entry corrects.
    ///
    /// ## Why
    /// A correction of something else takes the entry that counts out of the trail.
    ///
    /// ## Rejected
    /// ```json with audit_entry
    /// {"ACTION": {"INSTRUCTION_ID": "DI-2025-12-25-007"}}
    /// ```
    /// ```json rejected
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-25-002", "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}}
    /// ```
    /// ```json with audit_entry
    /// {"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-12-25-009"}}
    /// ```
    /// ```json rejected
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-25-002", "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with audit_entry
    /// {"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-12-25-002"}}
    /// ```
    /// ```json accepted
    /// {
    ///   "AUDIT_ENTRY_ID": "PAA-2025-12-25-002",
    ///   "TIMESTAMP_UTC": "2025-12-25T12:00:00Z",
    ///   "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}
    /// }
    /// ```
    pub static AUDIT_SUPERSESSION_MISMATCH: AuditEntry = {
        id: "audit-supersession-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry that is corrected is of another action, later, or corrected by another",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(id) = &entry.integrity.supersedes else { return };
    let Some(corrected) = it.other::<AuditEntry>(id.as_str()) else { return };
    let message = if corrected.action.instruction_id != entry.action.instruction_id {
        format!("`{id}` is about `{}`, not about `{}`", corrected.action.instruction_id, entry.action.instruction_id)
    } else if clock::before(&entry.timestamp, &corrected.timestamp) {
        format!("`{id}` was written later, at `{}`", corrected.timestamp.as_str())
    } else if let Some(other) = corrected.integrity.superseded_by.0.as_ref().filter(|it| **it != entry.audit_entry_id) {
        format!("`{id}` is corrected by `{other}` already")
    } else {
        return;
    };
    report.add(Pointer::at("/INTEGRITY/SUPERSEDES"), message, "name the entry that this one corrects");
}
