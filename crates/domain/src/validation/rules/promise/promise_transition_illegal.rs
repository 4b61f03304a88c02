use super::earlier;
use crate::validation::payload::{Promise, PromiseStatus};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise goes from pending to in progress, and from there to verified or cancelled, which are final.
    ///
    /// ## Why
    /// Every step has its own conditions. A promise that jumps over one has not met them, and one that comes back from
    /// an end takes back what others have relied on.
    ///
    /// ## Rejected
    /// ```json against
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json rejected
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    /// ```json against
    /// {"status": "cancelled", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json rejected
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json accepted
    /// {"status": "verified", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "met",
    ///    "evidence": "cargo test cart: 12 passed", "evidence_type": "test", "met_at": "2026-02-07T19:00:00Z",
    ///    "met_by": "worker-7"}
    /// ]}
    /// ```
    pub static PROMISE_TRANSITION_ILLEGAL: Promise = {
        id: "promise-transition-illegal",
        code: InvalidTransition,
        severity: Error,
        summary: "a promise changed its state in a way that is not allowed",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    let (from, to) = (older.status, it.record.status);
    if !is_allowed(from, to) {
        let help = match from {
            PromiseStatus::Pending => "begin it first: from pending it goes to in_progress",
            PromiseStatus::InProgress => "finish it as verified or cancelled",
            PromiseStatus::Verified | PromiseStatus::Cancelled => "make a new promise; this one has ended",
        };
        report.add(Pointer::at("/status"), format!("a promise does not go from {from} to {to}"), help);
    }
}

/// Repeating a state is no transition.
fn is_allowed(from: PromiseStatus, to: PromiseStatus) -> bool {
    use PromiseStatus::{Cancelled, InProgress, Pending, Verified};
    from == to || matches!((from, to), (Pending, InProgress) | (InProgress, Verified | Cancelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_sixteen_changes_three_are_allowed_beside_the_repetitions() {
        let all = PromiseStatus::ALL;
        let changes = all.iter().flat_map(|from| all.iter().map(move |to| (*from, *to)));
        let allowed: Vec<String> = changes
            .filter(|(from, to)| from != to && is_allowed(*from, *to))
            .map(|(from, to)| format!("{from} {to}"))
            .collect();
        assert_eq!(allowed, ["pending in_progress", "in_progress verified", "in_progress cancelled"]);
        assert!(all.iter().all(|state| is_allowed(*state, *state)));
    }
}
