use super::earlier;
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// Who made a promise, and when, does not change; nor does its owner come to own it earlier than before.
    ///
    /// ## Why
    /// All times of a promise are judged by when it was made. If that can be moved, evidence of before the work began
    /// passes for evidence of it.
    ///
    /// ## Rejected
    /// ```json against
    /// {}
    /// ```
    /// ```json rejected
    /// {"ownership": {"created_at": "2026-02-01T00:00:00Z"}}
    /// ```
    /// ```json against
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json rejected
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:31:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    pub static PROMISE_ORIGIN_REWRITTEN: Promise = {
        id: "promise-origin-rewritten",
        code: CorrelationMismatch,
        severity: Error,
        summary: "who made a promise and when, or since when it is owned, was changed",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    let (before, after) = (&older.ownership, &it.record.ownership);
    if before.created_by != after.created_by {
        let was = show(before.created_by.as_str());
        rewritten("created_by", format!("the promise was made by `{was}`"), report);
    }
    if before.created_at != after.created_at {
        rewritten("created_at", format!("the promise was made at {}", before.created_at.as_str()), report);
    }
    if let (Some(was), Some(is)) = (&before.owned_since, &after.owned_since)
        && is < was
    {
        rewritten("owned_since", format!("the promise was owned since {} in the earlier copy", was.as_str()), report);
    }
}

fn rewritten(field: &str, message: String, report: &mut Report) {
    report.add(Pointer::at("/ownership").key(field), message, format!("put `{field}` back as it was"));
}
