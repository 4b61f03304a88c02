use crate::delegation::payload::{AuditEntry, date_in_id, is_real_date};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The days in the ids of an audit entry are days that the calendar has.
    ///
    /// ## Why
    /// Entries are filed by the month of their id. One that never was has no folder.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUDIT_ENTRY_ID": "PAA-2025-02-30-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-25-001"}
    /// ```
    pub static AUDIT_ID_DATE_INVALID: AuditEntry = {
        id: "audit-id-date-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "the day in an id is not in the calendar",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let ids = [
        ("/AUDIT_ENTRY_ID", Some(entry.audit_entry_id.as_str())),
        ("/ACTION/INSTRUCTION_ID", Some(entry.action.instruction_id.as_str())),
        ("/ACTION/RESPONSE_ID", Some(entry.action.response_id.as_str())),
        ("/INTEGRITY/SUPERSEDES", entry.integrity.supersedes.as_ref().map(|id| id.as_str())),
        ("/INTEGRITY/SUPERSEDED_BY", entry.integrity.superseded_by.0.as_ref().map(|id| id.as_str())),
    ];
    for (pointer, id) in ids {
        if let Some(id) = id
            && !is_real_date(date_in_id(id))
        {
            let message = format!("`{id}` names a day that the calendar does not have");
            report.add(Pointer::at(pointer), message, "write the id as it was given out");
        }
    }
}
