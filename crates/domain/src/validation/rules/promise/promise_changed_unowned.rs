use super::{criteria_of_both, earlier};
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise that nobody owns is adopted before it is changed.
    ///
    /// ## Why
    /// Only the owner changes a promise. A change that nobody made is nobody's to answer for.
    ///
    /// ## Rejected
    /// ```json against
    /// {}
    /// ```
    /// ```json rejected
    /// {"status": "in_progress"}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    pub static PROMISE_CHANGED_UNOWNED: Promise = {
        id: "promise-changed-unowned",
        code: AuthorizationMissing,
        severity: Error,
        summary: "a promise was changed while nobody owned it",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    let owned = older.ownership.owned_by.is_some() || it.record.ownership.owned_by.is_some();
    if !owned && !older.status.is_final() && states_differ(older, it.record) {
        report.add(
            Pointer::at("/ownership/owned_by"),
            "the promise was changed while nobody owned it",
            "adopt it first, with `owned_by` and `owned_since`, and then change it",
        );
    }
}

/// Whether how far the promise has come differs. Its words are for other rules, and an ended promise for another yet.
fn states_differ(older: &Promise, newer: &Promise) -> bool {
    let mut pairs = criteria_of_both(older, newer);
    older.status != newer.status
        || older.acceptance_criteria.len() < newer.acceptance_criteria.len()
        || pairs.any(|(before, after)| after.is_some_and(|(_, after)| before.status != after.status))
}
