use super::earlier;
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};

rule! {
    /// A promise passes to another owner only when it was released.
    ///
    /// ## Why
    /// Two who both believe that they own it undo each other's work. Releasing is the owner's own act, and makes the
    /// change theirs. If it was released in between, give that copy as the earlier one.
    ///
    /// ## Rejected
    /// ```json against
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json rejected
    /// {"ownership": {"owned_by": "worker-9", "owned_since": "2026-02-07T19:40:00Z"}}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {"ownership": {"owned_by": "worker-9", "owned_since": "2026-02-07T19:40:00Z"}}
    /// ```
    /// ```json against
    /// {"ownership": {"owned_by": "worker-7", "owned_since": "2026-02-07T18:40:00Z"}}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static PROMISE_OWNER_JUMPED: Promise = {
        id: "promise-owner-jumped",
        code: AuthorizationMissing,
        severity: Error,
        summary: "a promise went from one owner to another without being released",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let Some(older) = earlier(it) else { return };
    if let (Some(before), Some(after)) = (&older.ownership.owned_by, &it.record.ownership.owned_by)
        && before != after
    {
        let (before, after) = (show(before.as_str()), show(after.as_str()));
        report.add(
            Pointer::at("/ownership/owned_by"),
            format!("the promise went from `{before}` to `{after}` without being released"),
            format!("have `{before}` release it first, and check against the released copy"),
        );
    }
}
