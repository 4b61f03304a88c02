use super::{criteria_of_both, earlier};
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, Untrusted, rule};

rule! {
    /// A criterion that was met stays met, and keeps its evidence, its time and its name.
    ///
    /// ## Why
    /// Others may have acted on it. If it turns out not to hold, the promise is cancelled and a new one is made. More
    /// evidence may be added to what is there.
    ///
    /// ## Rejected
    /// ```json against
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"}
    /// ]}
    /// ```
    /// ```json against
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "it was seen in staging", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed; again on main: 13 passed", "evidence_type": "test",
    ///    "met_at": "2026-02-07T19:00:00Z", "met_by": "worker-7"}
    /// ]}
    /// ```
    pub static PROMISE_MET_UNDONE: Promise = {
        id: "promise-met-undone",
        code: InvalidTransition,
        severity: Error,
        summary: "a criterion that was met is pending again, or lost what showed it",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    for (before, after) in criteria_of_both(older, it.record) {
        let Some((index, after)) = after.filter(|_| before.is_met()) else { continue };
        let place = |field| Pointer::at("/acceptance_criteria").item(index).key(field);
        if !after.is_met() {
            let message = format!("criterion `{}` was met, and is pending again", before.id);
            report.add(
                place("status"),
                message,
                "cancel the promise and make a new one, if the criterion does not hold",
            );
            continue;
        }
        let lost = [
            ("evidence", !keeps(before.evidence(), after.evidence())),
            ("evidence_type", before.evidence_type != after.evidence_type),
            ("met_at", before.met_at != after.met_at),
            ("met_by", before.met_by != after.met_by),
        ];
        for (field, _) in lost.into_iter().filter(|(_, lost)| *lost) {
            report.add(
                place(field),
                format!("criterion `{}` was met, and its `{field}` is not what it was", before.id),
                "put back what was there; more evidence may be added to it",
            );
        }
    }
}

/// Whether all that was said is still said.
fn keeps(before: Option<&Untrusted<String>>, after: Option<&Untrusted<String>>) -> bool {
    match (before, after) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(before), Some(after)) => before.inspect(|before| after.inspect(|after| after.contains(before.trim()))),
    }
}
