use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An earlier copy that a promise is checked against has the same id.
    ///
    /// ## Why
    /// What may have changed can only be judged between two copies of one promise.
    ///
    /// ## Rejected
    /// ```json against
    /// {"id": "promise-00000001"}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static PROMISE_OF_ANOTHER_ID: Promise = {
        id: "promise-of-another-id",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the earlier copy is of another promise",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    if let Some(older) = it.older.and_then(<[_]>::first)
        && older.id != it.record.id
    {
        report.add(
            Pointer::at("/id"),
            format!("this is `{}`, but the earlier copy is of `{}`", it.record.id, older.id),
            "give an earlier copy of the same promise",
        );
    }
}
