use crate::delegation::payload::DelegationResponse;
use crate::paths::{self, Reach};
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An audit entry is kept at `.evidence/platform-actions/YYYY-MM/ID.md`, where the month is that of its id.
    ///
    /// ## Why
    /// The id and the path name one entry. Where they differ, one of them names another.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-11/PAA-2025-12-25-001.md"}
    /// ```
    /// ```json rejected
    /// {"AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-25-002.md"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "AUDIT_ENTRY_ID": "PAA-2025-12-25-002",
    ///   "AUDIT_ENTRY_PATH": ".evidence/platform-actions/2025-12/PAA-2025-12-25-002.md"
    /// }
    /// ```
    pub static AUDIT_PATH_MISMATCH: DelegationResponse = {
        id: "audit-path-mismatch",
        code: SchemaInvalid,
        severity: Error,
        summary: "the path of the audit entry is not that of its id",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let (id, path) = (&it.record.audit_entry_id, it.record.audit_entry_path.as_str());
    if id.is_at(path) || paths::fault(path, Reach::Below).is_some() {
        return;
    }
    let place = id.path();
    let message = format!("`{}` is not where `{id}` is kept", show(path));
    let found = report.add(Pointer::at("/AUDIT_ENTRY_PATH"), message, format!("the place of that entry is `{place}`"));
    found.label(Pointer::at("/AUDIT_ENTRY_ID"), "the entry");
    // A path with the id in it is in the wrong place; one without it may be the right path beside the wrong id.
    if path.rsplit('/').next().and_then(|file| file.strip_suffix(".md")) == Some(id.as_str()) {
        found.repair(Repair::replace(
            Pointer::at("/AUDIT_ENTRY_PATH"),
            place,
            "write the place that follows from the id",
        ));
    }
}
