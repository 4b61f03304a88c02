use crate::delegation::parties;
use crate::delegation::payload::AuditEntry;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The requester is a `FOREMAN`, a `HUMAN`, or of a kind that the configuration names.
    ///
    /// ## Why
    /// The record must say who asked in words that its readers know.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"REQUESTER": {"AGENT_TYPE": "INTERN"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"REQUESTER": {"AGENT_TYPE": "HUMAN"}}
    /// ```
    pub static AUDIT_REQUESTER_UNKNOWN: AuditEntry = {
        id: "audit-requester-unknown",
        code: SchemaInvalid,
        severity: Error,
        summary: "the kind of requester is not known",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    if let Some(kind) = it.record.requester.agent_type.known() {
        parties::check_requester(kind.as_str(), it.settings, report);
    }
}
