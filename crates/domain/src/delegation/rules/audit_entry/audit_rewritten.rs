use crate::delegation::payload::{AuditEntry, checksum};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry stays as it was written. Only `SUPERSEDED_BY` may be set, once, and `VERIFICATION_STATUS` may
    /// change. An id belongs to one entry: another one given with it under the same id is a copy and has its checksum.
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
    /// ```json with audit_entry
    /// {}
    /// ```
    /// ```json rejected
    /// {"OUTCOME": {"RESULTING_STATE": "pull request 42 is still open"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json with audit_entry
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
    let help = "put the entry back as it was, and correct it with a new entry that names it in `SUPERSEDES`";
    let id = it.record.audit_entry_id.as_str();
    // Equal checksums mean equal content, or one that does not match, which is found elsewhere.
    let given = &it.record.integrity.checksum;
    if !it.others.is_empty() && it.other::<AuditEntry>(id).is_some_and(|other| other.integrity.checksum != *given) {
        let message = format!("another entry given with it is `{id}` too, and the two differ");
        report.add(Pointer::at("/AUDIT_ENTRY_ID"), message, help);
    }
    let (Some([older, ..]), Some(older_root)) = (it.older, it.older_root(0)) else { return };
    // The earlier copy may be the one whose checksum does not match, so what the two say is compared too.
    if older.integrity.checksum != *given || checksum(older_root.to_value()) != checksum(it.root.to_value()) {
        report.add(Pointer::at("/INTEGRITY/CHECKSUM"), "the entry differs from the earlier copy", help);
    }
    let set = older.integrity.superseded_by.0.is_some();
    if set && older.integrity.superseded_by != it.record.integrity.superseded_by {
        let message = "the earlier copy names another entry that corrects this one";
        report.add(Pointer::at("/INTEGRITY/SUPERSEDED_BY"), message, help);
    }
}
