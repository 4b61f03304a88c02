use crate::delegation::payload::{AuditEntry, date_in_id, date_of_time};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The id of an audit entry is given out when the instruction is received: not before the day of the
    /// instruction's id, and not after the day on which the entry is written.
    ///
    /// ## Why
    /// An id of another day is most often one that was copied from another entry, and files the entry where nobody
    /// looks.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-27-001"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-25-009"}
    /// ```
    pub static AUDIT_ID_DATE_OFF: AuditEntry = {
        id: "audit-id-date-off",
        code: SchemaInvalid,
        severity: Warning,
        summary: "the day in an id does not fit the time of the entry",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let date = date_in_id(entry.audit_entry_id.as_str());
    let first = date_in_id(entry.action.instruction_id.as_str());
    let last = date_of_time(&entry.timestamp);
    if date < first || date > last {
        let id = &entry.audit_entry_id;
        let message = format!("`{id}` is of another day than the instruction (`{first}`) and the entry (`{last}`)");
        report.add(Pointer::at("/AUDIT_ENTRY_ID"), message, "write the id that was given out for this instruction");
    }
}
