use crate::validation::payload::{Promise, PromiseStatus};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise with a criterion that is met has been begun.
    ///
    /// ## Why
    /// Pending means that nobody works on it. Others take a pending promise for free, and begin what is half done.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "pending", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    pub static PROMISE_MET_WHILE_PENDING: Promise = {
        id: "promise-met-while-pending",
        code: InvalidTransition,
        severity: Warning,
        summary: "a criterion is met, but the promise was not begun",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    if it.record.status != PromiseStatus::Pending {
        return;
    }
    if let Some(met) = it.record.acceptance_criteria.iter().find(|criterion| criterion.is_met()) {
        report.add(
            Pointer::at("/status"),
            format!("the promise is pending, but criterion `{}` is met", met.id),
            "set the status to `in_progress`",
        );
    }
}
