use crate::validation::payload::{Promise, PromiseStatus};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A promise that was begun has an owner.
    ///
    /// ## Why
    /// Without an owner a promise is released: nobody may change it until someone adopts it. That is allowed for a
    /// while, and easily forgotten.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"status": "in_progress"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"status": "in_progress", "ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json accepted
    /// {"status": "pending"}
    /// ```
    pub static PROMISE_UNOWNED: Promise = {
        id: "promise-unowned",
        code: MissingRequiredInput,
        severity: Warning,
        summary: "a promise that was begun or verified has no owner",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let begun = matches!(it.record.status, PromiseStatus::InProgress | PromiseStatus::Verified);
    if begun && it.record.ownership.owned_by.is_none() {
        report.add(
            Pointer::at("/ownership/owned_by"),
            format!("the promise is {}, and nobody owns it", it.record.status),
            "have someone adopt it, with `owned_by` and `owned_since`",
        );
    }
}
