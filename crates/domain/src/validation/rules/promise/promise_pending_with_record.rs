use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A criterion that is pending does not say when or by whom it was met.
    ///
    /// ## Why
    /// Either it was met, and its status is wrong, or it was not, and someone is named for something that did not
    /// happen. Evidence that is being gathered may stand there already.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending",
    ///    "evidence": "cargo test cart: 7 of 12 pass", "evidence_type": "test"}
    /// ]}
    /// ```
    pub static PROMISE_PENDING_WITH_RECORD: Promise = {
        id: "promise-pending-with-record",
        code: SchemaInvalid,
        severity: Error,
        summary: "a pending criterion says when or by whom it was met",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate().filter(|(_, it)| !it.is_met()) {
        let record = [("met_at", criterion.met_at.is_some()), ("met_by", criterion.met_by.is_some())];
        for (field, _) in record.into_iter().filter(|(_, there)| *there) {
            let place = Pointer::at("/acceptance_criteria").item(index);
            let found = report.add(
                place.clone().key(field),
                format!("criterion `{}` is pending, yet has `{field}`", criterion.id),
                format!("call the criterion met, if it is, or remove `{field}`"),
            );
            found.label(place.key("status"), "it is called pending here");
        }
    }
}
