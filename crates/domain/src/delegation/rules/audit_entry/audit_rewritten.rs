use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry stays as it was written. Only `SUPERSEDED_BY` may be set, once, and `VERIFICATION_STATUS` may
    /// change.
    ///
    /// ## Why
    /// A sealed entry can be changed and sealed again. Only a copy that was kept shows it.
    ///
    /// ## Rejected
    /// ```json against
    /// {}
    /// ```
    /// ```json rejected
    /// {"OUTCOME": {"RESULTING_STATE": "pull request 42 is still open"}}
    /// ```
    /// ```json against
    /// {"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-12-26-001"}}
    /// ```
    /// ```json rejected
    /// {"INTEGRITY": {"SUPERSEDED_BY": "PAA-2025-12-26-002"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {"INTEGRITY": {"VERIFICATION_STATUS": "VERIFIED", "SUPERSEDED_BY": "PAA-2025-12-26-001"}}
    /// ```
    pub static AUDIT_REWRITTEN: AuditEntry = {
        id: "audit-rewritten",
        code: IntegrityMismatch,
        severity: Error,
        summary: "an entry differs from an earlier copy of itself",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let Some([older, ..]) = it.older else { return };
    let help = "put the entry back as it was, and correct it with a new entry that names it in `SUPERSEDES`";
    // Equal checksums mean equal content, or one that does not match, which is found elsewhere.
    if older.integrity.checksum != it.record.integrity.checksum {
        report.add(Pointer::at("/INTEGRITY/CHECKSUM"), "the entry differs from the earlier copy", help);
    }
    let set = older.integrity.superseded_by.0.is_some();
    if set && older.integrity.superseded_by != it.record.integrity.superseded_by {
        let message = "the earlier copy names another entry that corrects this one";
        report.add(Pointer::at("/INTEGRITY/SUPERSEDED_BY"), message, help);
    }
}
