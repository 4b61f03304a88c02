use crate::work::payload::OrchestratorOutput;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::{Code, Pointer};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task whose blocker is SCHEMA_INVALID, SCOPE_VIOLATION or NON_COMPLIANT is not tried again as it is.
    ///
    /// ## Why
    /// The same packet fails in the same way. Somebody has to change it first.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "retry_after_ms": 500
    ///     }
    ///   ],
    ///   "blockers": [{"task_id": "T-12", "code": "SCOPE_VIOLATION", "reason": "src/api was changed"}],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "ledger_delta": [
    ///     {
    ///       "task_id": "T-12", "status": "blocked", "owner": "coder", "reason": "planned", "delta_id": "d-1",
    ///       "retry_after_ms": 500
    ///     }
    ///   ],
    ///   "blockers": [
    ///     {"task_id": "T-12", "code": "CONCURRENCY_CONFLICT", "reason": "the ledger moved on"}
    ///   ],
    ///   "assignments": [],
    ///   "active_locks": []
    /// }
    /// ```
    pub static RETRY_NOT_ALLOWED: OrchestratorOutput = {
        id: "retry-not-allowed",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a task is to be tried again although nothing would change",
        check: check,
    }
}

fn check(it: &Subject<'_, OrchestratorOutput>, report: &mut Report) {
    let OrchestratorOutput { ledger_delta, blockers, .. } = it.record;
    if blockers.is_empty() {
        return;
    }
    let hopeless = |index: usize| {
        matches!(blockers[index].code.get(), Code::SchemaInvalid | Code::ScopeViolation | Code::NonCompliant)
    };
    let named = Firsts::new(blockers.len(), |index| (&blockers[index].task_id, hopeless(index)));
    for (index, delta) in ledger_delta.iter().enumerate().filter(|(_, delta)| delta.retry_after_ms.is_some()) {
        if let Some(blocker) = named.find(&(&delta.task_id, true)) {
            let message = format!("{} is to be tried again after {}", delta.task_id, blockers[blocker].code.get());
            let place = report.place(Pointer::at("/blockers").item(blocker).key("code"));
            let pointer = Pointer::at("/ledger_delta").item(index).key("retry_after_ms");
            let found = report.add(pointer, message, "change the packet first; leave the retry out");
            found.label(place, "trying again does not mend this");
        }
    }
}
