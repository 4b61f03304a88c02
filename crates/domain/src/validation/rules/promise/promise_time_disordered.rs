use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, Timestamp, rule};

rule! {
    /// Nobody owned a promise, and no criterion of it was met, before it was made.
    ///
    /// ## Why
    /// Evidence that is older than the promise is evidence of something else: of the state before the work began.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-06T09:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:29:59Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:30:00Z"}}
    /// ```
    pub static PROMISE_TIME_DISORDERED: Promise = {
        id: "promise-time-disordered",
        code: SchemaInvalid,
        severity: Error,
        summary: "something of a promise happened before the promise was made",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let made = &it.record.ownership.created_at;
    if let Some(owned) = it.record.ownership.owned_since.as_ref().filter(|owned| *owned < made) {
        early(Pointer::at("/ownership/owned_since"), owned, made, report);
    }
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate() {
        if let Some(met) = criterion.met_at.as_ref().filter(|met| *met < made) {
            early(Pointer::at("/acceptance_criteria").item(index).key("met_at"), met, made, report);
        }
    }
}

fn early(place: Pointer, time: &Timestamp, made: &Timestamp, report: &mut Report) {
    let message = format!("{} is before the promise was made, {}", time.as_str(), made.as_str());
    let found = report.add(place, message, "correct whichever of the two times is wrong");
    found.label(Pointer::at("/ownership/created_at"), "it was made here");
}
