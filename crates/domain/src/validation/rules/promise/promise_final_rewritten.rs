use super::earlier;
use crate::rewriting::differs_from_older;
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise that is verified or cancelled does not change any more, members of your own included.
    ///
    /// ## Why
    /// Gates and people have read it as it ended. What is found later belongs into a new promise.
    ///
    /// ## Rejected
    /// ```json against
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"status": "verified", "title": "Refuse all carts",
    ///  "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json against
    /// {"status": "cancelled", "x_reason": "no longer wanted"}
    /// ```
    /// ```json rejected
    /// {"status": "cancelled", "x_reason": "done elsewhere"}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    pub static PROMISE_FINAL_REWRITTEN: Promise = {
        id: "promise-final-rewritten",
        code: InvalidTransition,
        severity: Error,
        summary: "a promise that has ended was changed",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    // A change of state is for the rule about transitions.
    if older.status.is_final() && it.record.status == older.status && differs_from_older(it) {
        report.add(
            Pointer::root(),
            format!("the promise had ended as {}, and was changed since", older.status),
            "put it back as it was, and make a new promise for what is new",
        );
    }
}
