use super::{criteria_of_both, earlier};
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The criteria of a promise stay: none vanishes, and none changes its words.
    ///
    /// ## Why
    /// A promise that is judged by easier criteria than those it was made with was not kept, it was changed. Criteria
    /// may be added below.
    ///
    /// ## Rejected
    /// ```json against
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201", "status": "pending"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"}
    /// ]}
    /// ```
    /// ```json against
    /// {}
    /// ```
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered somehow", "status": "pending"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json accepted
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"},
    ///  "acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201", "status": "pending"}
    /// ]}
    /// ```
    pub static PROMISE_CRITERION_CHANGED: Promise = {
        id: "promise-criterion-changed",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a criterion of an earlier copy is gone or says something else",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    for (before, after) in criteria_of_both(older, it.record) {
        match after {
            None => {
                report.add(
                    Pointer::at("/acceptance_criteria"),
                    format!("criterion `{}` of the earlier copy is gone", before.id),
                    format!("put `{}` back as it was", before.id),
                );
            }
            Some((index, after)) if after.description != before.description => {
                report.add(
                    Pointer::at("/acceptance_criteria").item(index).key("description"),
                    format!("criterion `{}` says something else than in the earlier copy", before.id),
                    "put its words back, and add what is new as a criterion of its own",
                );
            }
            Some(_) => {}
        }
    }
}
