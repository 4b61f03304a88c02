use crate::delegation::evidence_path;
use crate::delegation::payload::DelegationResponse;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `AUDIT_ENTRY_PATH` is a clean path relative to the repository: no `..`, no leading slash, no drive, no
    /// address.
    ///
    /// ## Why
    /// Whoever follows the path must stay in the repository, and must find there what the executor put there.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUDIT_ENTRY_PATH": "/var/audit/PAA-2025-12-25-001.md"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md"}
    /// ```
    pub static AUDIT_PATH_INVALID: DelegationResponse = {
        id: "audit-path-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "the path of the audit entry is not a clean relative path",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    evidence_path::check(it.record.audit_entry_path.as_str(), "/AUDIT_ENTRY_PATH", report);
}
