use super::mismatch;
use crate::delegation::payload::{AuditEntry, DelegationResponse};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The executor on record is the one that answered.
    ///
    /// ## Why
    /// The one who acted is the one who answers for it.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json rejected
    /// {"EXECUTOR": {"AGENT_INSTANCE_ID": "maturion-2"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_EXECUTOR_MISMATCH: AuditEntry = {
        id: "audit-executor-mismatch",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry names another executor than the response",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(response) = it.other::<DelegationResponse>(entry.action.response_id.as_str()) else { return };
    let (here, there) = (&entry.executor, &response.executor);
    let pairs = [
        ("/EXECUTOR/AGENT_TYPE", &here.agent_type, &there.agent_type),
        ("/EXECUTOR/AGENT_INSTANCE_ID", &here.agent_instance_id, &there.agent_instance_id),
    ];
    for (pointer, here, there) in pairs {
        mismatch(pointer, here.as_str(), there.as_str(), "the response", report);
    }
}
