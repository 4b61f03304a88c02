use crate::delegation::clock;
use crate::delegation::payload::{AuditEntry, DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Nothing in an entry happened before the instruction was given, unless the response declines that time. Times within
    /// one second are in no order.
    ///
    /// ## Why
    /// What was done before it was asked for was not done because it was asked for.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {"TIMESTAMP_UTC": "2025-12-25T10:30:12Z"}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {"TIMESTAMP_UTC": "2025-12-25T10:30:11Z"}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static AUDIT_BEFORE_INSTRUCTION: AuditEntry = {
        id: "audit-before-instruction",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the entry tells of times before the instruction",
        check: check,
    }
}

fn check(it: &Subject<'_, AuditEntry>, report: &mut Report) {
    let entry = it.record;
    let Some(instruction) = it.other::<DelegationInstruction>(entry.action.instruction_id.as_str()) else { return };
    let response = it.other::<DelegationResponse>(entry.action.response_id.as_str());
    if response.is_some_and(|response| response.declines_the_time()) {
        return;
    }
    let times = [
        ("/TIMESTAMP_UTC", Some(&entry.timestamp)),
        ("/EXECUTOR/EXECUTION_TIMESTAMP", Some(&entry.executor.execution_timestamp)),
        ("/PLATFORM_REQUEST/TIMESTAMP_UTC", entry.platform_request.as_ref().map(|it| &it.timestamp)),
    ];
    for (pointer, time) in times {
        if let Some(time) = time
            && clock::before(time, &instruction.timestamp)
        {
            let given = instruction.timestamp.as_str();
            let message = format!("`{}` is before the instruction, which was given at `{given}`", time.as_str());
            report.add(Pointer::at(pointer), message, "write the times as they were");
        }
    }
}
