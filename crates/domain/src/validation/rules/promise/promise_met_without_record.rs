use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A criterion that is met says what kind of evidence shows it, when it was met, and by whom.
    ///
    /// ## Why
    /// Evidence that nobody stands for and that has no time cannot be followed up, nor be told from evidence of an
    /// older state of the work.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test"}
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
    pub static PROMISE_MET_WITHOUT_RECORD: Promise = {
        id: "promise-met-without-record",
        code: MissingRequiredInput,
        severity: Error,
        summary: "a met criterion does not say how, when or by whom",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate().filter(|(_, it)| it.is_met()) {
        let record = [
            ("evidence_type", criterion.evidence_type.is_some()),
            ("met_at", criterion.met_at.is_some()),
            ("met_by", criterion.met_by.is_some()),
        ];
        for (field, _) in record.into_iter().filter(|(_, there)| !there) {
            report.add(
                Pointer::at("/acceptance_criteria").item(index).key(field),
                format!("criterion `{}` is met, but `{field}` is missing", criterion.id),
                format!("add `{field}`"),
            );
        }
    }
}
