use crate::delegation::clock;
use crate::delegation::payload::AuditEntry;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request is sent, answered, and then written down: the times of `PLATFORM_REQUEST`, `PLATFORM_RESPONSE` and
    /// of the entry come in this order, and `EXECUTION_TIMESTAMP` is not after the entry. Times within one second
    /// are in no order.
    ///
    /// ## Why
    /// A record that was written before what it records was made up.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"PLATFORM_RESPONSE": {"TIMESTAMP_UTC": "2025-12-25T10:30:10Z"}}
    /// ```
    /// ```json rejected
    /// {"EXECUTOR": {"EXECUTION_TIMESTAMP": "2025-12-25T10:31:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"TIMESTAMP_UTC": "2025-12-25T10:30:12.5Z"}
    /// ```
    pub static AUDIT_TIMES_DISORDERED: AuditEntry = {
        id: "audit-times-disordered",
        code: SchemaInvalid,
        severity: Error,
        summary: "the times of an entry are out of order",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let written = ("/TIMESTAMP_UTC", Some(&entry.timestamp));
    let sent = entry.platform_request.as_ref().map(|it| &it.timestamp);
    let answered = entry.platform_response.as_ref().map(|it| &it.timestamp);
    clock::check_order(
        &[("/PLATFORM_REQUEST/TIMESTAMP_UTC", sent), ("/PLATFORM_RESPONSE/TIMESTAMP_UTC", answered), written],
        report,
    );
    let acted = &entry.executor.execution_timestamp;
    clock::check_order(&[("/EXECUTOR/EXECUTION_TIMESTAMP", Some(acted)), written], report);
}
