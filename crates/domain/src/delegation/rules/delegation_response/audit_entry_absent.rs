use crate::delegation::payload::DelegationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// The audit entry is there by the time the response is sent, and so is its file when the response is checked
    /// in its repository.
    ///
    /// ## Why
    /// No action is without a record. It is a warning, because the response may be checked elsewhere than in the
    /// repository it speaks of.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"files": {".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md": false}}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"files": {".evidence/platform-actions/2025-12/PAA-2025-12-25-001.md": true}}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_ENTRY_ABSENT: DelegationResponse = {
        id: "audit-entry-absent",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "the file of the audit entry is not there",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let path = it.record.audit_entry_path.as_str();
    if it.outside.files.get(path) == Some(&false) {
        let message = format!("`{}` is not there", show(path));
        report.add(Pointer::at("/AUDIT_ENTRY_PATH"), message, "write the audit entry before the response is sent");
    }
}
