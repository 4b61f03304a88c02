use crate::validation::payload::Promise;
use crate::wording::{repeats, says_nothing};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence says more than the criterion itself.
    ///
    /// ## Why
    /// Who repeats the criterion has read it; whether it was tried cannot be seen.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "An empty cart is answered with status 400", "evidence_type": "test",
    ///    "met_at": "2026-02-07T19:00:00Z", "met_by": "worker-7"}
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
    pub static PROMISE_EVIDENCE_REPEATS: Promise = {
        id: "promise-evidence-repeats",
        code: AcceptanceFailed,
        severity: Warning,
        summary: "the evidence for a criterion only repeats its words",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate().filter(|(_, it)| it.is_met()) {
        let Some(evidence) = criterion.evidence() else { continue };
        let repeated =
            |text: &str| !says_nothing(text) && criterion.description.inspect(|description| repeats(text, description));
        if evidence.inspect(repeated) {
            report.add(
                Pointer::at("/acceptance_criteria").item(index).key("evidence"),
                format!("the evidence for `{}` only repeats the criterion", criterion.id),
                "say what was seen and where: a file and line, a command and its output, an address and its answer",
            );
        }
    }
}
