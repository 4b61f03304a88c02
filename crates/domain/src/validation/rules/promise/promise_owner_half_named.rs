use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// An owner is named together with the time since when.
    ///
    /// ## Why
    /// Only the owner changes a promise. Whether a change was the owner's to make can be seen only when both are
    /// known.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"ownership": {"owned_by": "worker-7"}}
    /// ```
    /// ```json rejected
    /// {"ownership": {"owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    pub static PROMISE_OWNER_HALF_NAMED: Promise = {
        id: "promise-owner-half-named",
        code: MissingRequiredInput,
        severity: Error,
        summary: "an owner without a time, or a time without an owner",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let ownership = &it.record.ownership;
    match (&ownership.owned_by, &ownership.owned_since) {
        (Some(owner), None) => {
            let message = format!("`{}` owns the promise, but since when is not said", show(owner.as_str()));
            report.add(Pointer::at("/ownership/owned_since"), message, "add `owned_since`");
        }
        (None, Some(_)) => {
            let message = "it is said since when the promise is owned, but not by whom";
            report.add(Pointer::at("/ownership/owned_by"), message, "add `owned_by`, or remove `owned_since`");
        }
        _ => {}
    }
}
