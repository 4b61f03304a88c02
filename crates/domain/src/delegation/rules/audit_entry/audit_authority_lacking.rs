use crate::delegation::payload::AuditEntry;
use crate::delegation::policy::{self, Claim};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// What was sent to a platform had the authority that it needed.
    ///
    /// ## Why
    /// The entry is a true record of what was done, and so it is kept. That it was done is for a person to look at.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "REQUESTER": {"AUTHORIZATION_LEVEL": "AUTONOMOUS"},
    ///   "PLATFORM_REQUEST": null,
    ///   "PLATFORM_RESPONSE": null,
    ///   "OUTCOME": {
    ///     "RESULTING_STATE": "nothing was done", "RESOURCE_ID": null, "RESOURCE_TYPE": null, "RESOURCE_NUMBER": null,
    ///     "SUCCESS": "NO"
    ///   }
    /// }
    /// ```
    pub static AUDIT_AUTHORITY_LACKING: AuditEntry = {
        id: "audit-authority-lacking",
        code: AuthorizationMissing,
        severity: Warning,
        summary: "the action on record lacked authority",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    if it.record.platform_request.is_none() {
        return;
    }
    // What was sent although it could not be read is found elsewhere.
    if let Some(lack) = Claim::of_entry(it.record).and_then(|claim| policy::first_lack(&claim)) {
        report.add(
            Pointer::at("/AUTHORIZATION_EVIDENCE"),
            format!(
                "{} was sent to the platform without authority: {}",
                it.record.action.kind.as_written(),
                lack.words()
            ),
            "tell a person; the entry itself stays as it is",
        );
    }
}
