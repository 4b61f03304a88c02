use crate::delegation::payload::{AuditEntry, checksum};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `CHECKSUM` is the SHA-256 of the entry's canonical form (RFC 8785) without `CHECKSUM`, `SUPERSEDED_BY` and
    /// `VERIFICATION_STATUS`, in 64 lower-case hexadecimal digits. Members of your own are covered too.
    ///
    /// ## Why
    /// An entry is never changed, and the checksum is how a change shows. No repair is offered: to seal a changed entry
    /// again is to vouch for the change, and a forged entry would leave the repair looking genuine. Compare it with the
    /// copy in the ledger; what was wrong in it from the start is corrected by a new entry that names it in
    /// `SUPERSEDES`.
    ///
    /// ## Rejected
    /// ```json rejected unsealed
    /// {"OUTCOME": {"RESULTING_STATE": "pull request 42 is still open"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted unsealed
    /// {"INTEGRITY": {"VERIFICATION_STATUS": "VERIFIED", "SUPERSEDED_BY": "PAA-2025-12-26-001"}}
    /// ```
    pub static AUDIT_CHECKSUM_MISMATCH: AuditEntry = {
        id: "audit-checksum-mismatch",
        code: IntegrityMismatch,
        severity: Error,
        summary: "the checksum of an entry does not match its content",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let given = it.record.integrity.checksum.as_str();
    let computed = checksum(it.root.to_value());
    if given != computed {
        let message = "the checksum does not match the entry: it was changed after it was sealed, or never sealed";
        let help = "put the entry back as it was kept; a correction is a new entry that names this one in `SUPERSEDES`";
        report.add(Pointer::at("/INTEGRITY/CHECKSUM"), message, help);
    }
}
