use crate::validation::payload::Promise;
use crate::wording::says_nothing;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Evidence for a criterion that is met says what was seen.
    ///
    /// ## Why
    /// `done` or `works` is the claim once more, not what it rests on.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "Implemented, works.", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
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
    pub static PROMISE_EVIDENCE_PLACEHOLDER: Promise = {
        id: "promise-evidence-placeholder",
        code: AcceptanceFailed,
        severity: Error,
        summary: "a criterion is called met on words that show nothing",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate().filter(|(_, it)| it.is_met()) {
        let Some(evidence) = criterion.evidence().filter(|evidence| evidence.inspect(says_nothing)) else { continue };
        report.add(
            Pointer::at("/acceptance_criteria").item(index).key("evidence"),
            format!("the evidence for `{}` shows nothing: `{}`", criterion.id, evidence.escaped()),
            "say what was seen and where: a file and line, a command and its output, an address and its answer",
        );
    }
}
