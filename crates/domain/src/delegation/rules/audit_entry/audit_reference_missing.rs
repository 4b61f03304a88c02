use crate::delegation::payload::{AuditEntry, Completed, QaStatus, YesNo, names_evidence};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Authority on record names what shows it: an approval its reference, a resolved escalation its reference,
    /// governance its file, and the tests their file unless their status is `NOT_APPLICABLE`.
    ///
    /// ## Why
    /// The entry is what is left when everyone who knew is gone.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"HUMAN_APPROVAL_REFERENCE": null}}
    /// ```
    /// ```json rejected
    /// {"AUTHORIZATION_EVIDENCE": {"QA_EVIDENCE_PATH": "NOT_APPLICABLE"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "ESCALATION_RESOLVED"},
    ///   "AUTHORIZATION_EVIDENCE": {
    ///     "QA_STATUS": "NOT_APPLICABLE",
    ///     "QA_EVIDENCE_PATH": "NOT_APPLICABLE",
    ///     "HUMAN_APPROVAL": "NO",
    ///     "HUMAN_APPROVAL_REFERENCE": null,
    ///     "ESCALATION_COMPLETED": "YES",
    ///     "ESCALATION_REFERENCE": "issue 130, resolved"
    ///   }
    /// }
    /// ```
    pub static AUDIT_REFERENCE_MISSING: AuditEntry = {
        id: "audit-reference-missing",
        code: MissingRequiredInput,
        severity: Error,
        summary: "authority on record without what shows it",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let evidence = &it.record.authorization_evidence;
    let wanted = [
        ("GOVERNANCE_EVIDENCE_PATH", true, Some(&evidence.governance_evidence_path)),
        ("QA_EVIDENCE_PATH", !evidence.qa_status.is(&QaStatus::NotApplicable), Some(&evidence.qa_evidence_path)),
        (
            "HUMAN_APPROVAL_REFERENCE",
            evidence.human_approval.is(&YesNo::Yes),
            evidence.human_approval_reference.as_ref(),
        ),
        (
            "ESCALATION_REFERENCE",
            evidence.escalation_completed.is(&Completed::Yes),
            evidence.escalation_reference.as_ref(),
        ),
    ];
    for (field, wanted, text) in wanted {
        if wanted && !names_evidence(text) {
            let message = format!("`{field}` names nothing that shows the authority on record");
            report.add(Pointer::at("/AUTHORIZATION_EVIDENCE").key(field), message, "name what the instruction named");
        }
    }
}
