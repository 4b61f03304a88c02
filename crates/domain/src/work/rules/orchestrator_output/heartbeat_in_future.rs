use crate::work::heartbeat;
use crate::work::payload::OrchestratorOutput;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A sign of life lies in the past. Clocks may differ by 30 seconds.
    ///
    /// ## Why
    /// A worker whose last sign of life lies in the future is never taken to be silent.
    ///
    /// ## Rejected
    /// ```json outside
    /// {"now": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "last_heartbeat_at": "2026-02-07T18:30:31Z"
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json outside
    /// {"now": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "in_progress", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "last_heartbeat_at": "2026-02-07T18:30:30Z"
    ///     }
    ///   ]
    /// }
    /// ```
    pub static HEARTBEAT_IN_FUTURE: OrchestratorOutput = {
        id: "heartbeat-in-future",
        code: SchemaInvalid,
        severity: Error,
        summary: "the last sign of life lies in the future",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    for (index, delta) in it.record.ledger_delta.iter().enumerate() {
        let pointer = || Pointer::at("/ledger_delta").item(index).key("last_heartbeat_at");
        heartbeat::check_past(delta.last_heartbeat_at.as_ref(), it.outside.now, pointer, report);
    }
}
