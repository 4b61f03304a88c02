use crate::delegation::payload::{DelegationInstruction, DelegationResponse};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// `EXECUTION_DURATION_MS` counts from receiving the instruction to answering it, and so fits between their
    /// times.
    ///
    /// ## Why
    /// A duration that does not fit was not measured, or belongs to another response.
    ///
    /// ## Rejected
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json rejected
    /// {"EXECUTOR": {"EXECUTION_DURATION_MS": 90000}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with delegation_instruction
    /// {}
    /// ```
    /// ```json accepted
    /// {"EXECUTOR": {"EXECUTION_DURATION_MS": 14000}}
    /// ```
    pub static EXECUTION_DURATION_IMPLAUSIBLE: DelegationResponse = {
        id: "execution-duration-implausible",
        code: CorrelationMismatch,
        severity: Warning,
        summary: "the action took longer than the time between instruction and response",
        check: check,
    }
}

fn check(it: &Subject<'_, DelegationResponse>, report: &mut Report) {
    let Some(instruction) = it.other::<DelegationInstruction>(it.record.instruction_id.as_str()) else { return };
    let between = it.record.timestamp.instant().as_millisecond() - instruction.timestamp.instant().as_millisecond();
    let duration = it.record.executor.execution_duration_ms.get();
    // A clock that tells whole seconds may be a second behind.
    if between >= 0 && duration > between + 1000 {
        report.add(
            Pointer::at("/EXECUTOR/EXECUTION_DURATION_MS"),
            format!("the action took {duration} ms, and the response came {between} ms after the instruction"),
            "write how long it took from receiving the instruction to answering it",
        );
    }
}
