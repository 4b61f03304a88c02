use crate::validation::payload::{Promise, PromiseStatus};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise is verified only when every criterion is met.
    ///
    /// ## Why
    /// Verified is final, and work stops on it. One pending criterion means that the promise was not kept.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201", "status": "pending"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    pub static PROMISE_VERIFIED_UNMET: Promise = {
        id: "promise-verified-unmet",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a promise is called verified while a criterion is pending",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    if it.record.status != PromiseStatus::Verified {
        return;
    }
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate().filter(|(_, it)| !it.is_met()) {
        let found = report.add(
            Pointer::at("/acceptance_criteria").item(index).key("status"),
            format!("the promise is verified, but criterion `{}` is pending", criterion.id),
            "meet the criterion with evidence before the promise is called verified",
        );
        found.label(Pointer::at("/status"), "it is called verified here");
    }
}
