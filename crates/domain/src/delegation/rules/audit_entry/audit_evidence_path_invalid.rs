use crate::delegation::evidence_path;
use crate::delegation::payload::AuditEntry;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Files of evidence are named by clean paths relative to the repository: no `..`, no leading slash, no drive,
    /// no address.
    ///
    /// ## Why
    /// An auditor opens the path years later, in a copy of the repository.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"QA_EVIDENCE_PATH": "/home/ci/results.json"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"AUTHORIZATION_EVIDENCE": {"QA_EVIDENCE_PATH": ".qa/results.json"}}
    /// ```
    pub static AUDIT_EVIDENCE_PATH_INVALID: AuditEntry = {
        id: "audit-evidence-path-invalid",
        code: SchemaInvalid,
        severity: Error,
        summary: "a file of evidence is not a clean relative path",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let evidence = &it.record.authorization_evidence;
    let named = [
        ("/AUTHORIZATION_EVIDENCE/GOVERNANCE_EVIDENCE_PATH", &evidence.governance_evidence_path),
        ("/AUTHORIZATION_EVIDENCE/QA_EVIDENCE_PATH", &evidence.qa_evidence_path),
    ];
    for (pointer, path) in named {
        evidence_path::check(path.as_str(), pointer, report);
    }
}
