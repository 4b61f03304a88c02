use crate::delegation::clock;
use crate::delegation::payload::{AuditEntry, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An entry is written before the response is sent, and the action is carried out before that. Only an entry
    /// that corrects another comes later. Times within one second are in no order.
    ///
    /// ## Why
    /// A response names its entry; if that is written afterwards, for a while there is an action without a record.
    ///
    /// ## Rejected
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json rejected
    /// {"TIMESTAMP_UTC": "2025-12-25T10:32:00Z"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_response
    /// {}
    /// ```
    /// ```json accepted
    /// {"TIMESTAMP_UTC": "2025-12-25T10:30:15Z"}
    /// ```
    pub static AUDIT_AFTER_RESPONSE: AuditEntry = {
        id: "audit-after-response",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry was written, or the action carried out, after the response",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(response) = it.other::<DelegationResponse>(entry.action.response_id.as_str()) else { return };
    let correction = entry.integrity.supersedes.is_some();
    let times = [
        ("/TIMESTAMP_UTC", Some(&entry.timestamp).filter(|_| !correction)),
        ("/EXECUTOR/EXECUTION_TIMESTAMP", Some(&entry.executor.execution_timestamp)),
    ];
    for (pointer, time) in times {
        if let Some(time) = time
            && clock::before(&response.timestamp, time)
        {
            let sent = response.timestamp.as_str();
            let message = format!("`{}` is after the response, which was sent at `{sent}`", time.as_str());
            report.add(Pointer::at(pointer), message, "write the entry first, and then send the response");
        }
    }
}
