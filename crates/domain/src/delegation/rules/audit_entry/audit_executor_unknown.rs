use crate::delegation::parties;
use crate::delegation::payload::AuditEntry;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The executor is `MATURION`, or of a kind that the configuration names.
    ///
    /// ## Why
    /// Only an agent that is trusted with the platform acts there. A record that names another records something
    /// else.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"EXECUTOR": {"AGENT_TYPE": "FOREMAN"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"EXECUTOR": {"AGENT_TYPE": "MATURION"}}
    /// ```
    pub static AUDIT_EXECUTOR_UNKNOWN: AuditEntry = {
        id: "audit-executor-unknown",
        code: SchemaInvalid,
        severity: Error,
        summary: "the kind of executor is not known",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    parties::check_executor(it.record.executor.agent_type.as_str(), it.settings, report);
}
