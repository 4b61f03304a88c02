use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry corrects another and is corrected by another: `AUDIT_ENTRY_ID`, `SUPERSEDES` and `SUPERSEDED_BY`
    /// are different.
    ///
    /// ## Why
    /// Whoever looks for the entry that counts follows these ids, and would never arrive.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUDIT_ENTRY_ID": "PAA-2025-12-25-002", "INTEGRITY": {"SUPERSEDES": "PAA-2025-12-25-001"}}
    /// ```
    pub static AUDIT_SUPERSEDES_ITSELF: AuditEntry = {
        id: "audit-supersedes-itself",
        code: SchemaInvalid,
        severity: Error,
        summary: "an entry that corrects itself, or is corrected by what it corrects",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let own = Some(&it.record.audit_entry_id);
    let (before, after) = (it.record.integrity.supersedes.as_ref(), it.record.integrity.superseded_by.0.as_ref());
    let help = "name the other entry";
    if before == own {
        report.add(Pointer::at("/INTEGRITY/SUPERSEDES"), "the entry corrects itself", help);
    }
    if after == own {
        report.add(Pointer::at("/INTEGRITY/SUPERSEDED_BY"), "the entry is corrected by itself", help);
    } else if after.is_some() && after == before {
        report
            .add(Pointer::at("/INTEGRITY/SUPERSEDED_BY"), "the entry is corrected by the one that it corrects", help)
            .label(Pointer::at("/INTEGRITY/SUPERSEDES"), "the same entry");
    }
}
