use crate::delegation::payload::AuditEntry;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `IMMUTABLE` is true.
    ///
    /// ## Why
    /// There are no other entries. What is wrong in one is corrected by another that names it in `SUPERSEDES`.
    /// No repair is offered, because whoever wrote that the entry may be changed may have changed it.
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
        let help = "compare it with the copy that was kept, and have it written again by who wrote it";
        report.add(Pointer::at("/INTEGRITY/IMMUTABLE"), "an audit entry is never changeable", help);
    }
}
