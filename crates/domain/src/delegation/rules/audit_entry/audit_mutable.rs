use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `IMMUTABLE` is true.
    ///
    /// ## Why
    /// There are no other entries. What is wrong in one is corrected by another that names it in `SUPERSEDES`.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"INTEGRITY": {"IMMUTABLE": false}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"INTEGRITY": {"IMMUTABLE": true}}
    /// ```
    pub static AUDIT_MUTABLE: AuditEntry = {
        id: "audit-mutable",
        code: SchemaInvalid,
        severity: Error,
        summary: "an entry that calls itself changeable",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    if !it.record.integrity.immutable {
        let pointer = Pointer::at("/INTEGRITY/IMMUTABLE");
        report.add(pointer.clone(), "an audit entry is never changeable", "write true").repair(Repair::replace(
            pointer,
            true,
            "write true",
        ));
    }
}
