use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A criterion that is met has evidence.
    ///
    /// ## Why
    /// The first gate lets work on when every criterion is met, with evidence. A criterion that is met by word alone
    /// would carry the whole promise through it.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z", "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": " ", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z", "met_by": "worker-7"}
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
    pub static PROMISE_MET_WITHOUT_EVIDENCE: Promise = {
        id: "promise-met-without-evidence",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a criterion is called met without evidence",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate() {
        if criterion.is_met() && criterion.evidence().is_none() {
            report.add(
                Pointer::at("/acceptance_criteria").item(index).key("evidence"),
                format!("criterion `{}` is met without evidence", criterion.id),
                "say what shows it, or call the criterion pending",
            );
        }
    }
}
