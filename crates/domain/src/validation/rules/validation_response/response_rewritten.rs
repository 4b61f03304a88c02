use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request is answered once: a second response is identical to the first.
    ///
    /// ## Why
    /// The first answer has been acted on. If work has changed since, a new request asks about it; a second answer to
    /// the old one would change what the first decision rested on.
    ///
    /// ## Rejected
    /// ```json against
    /// {"verdict": "FAIL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "FAIL", "evidence": "POST /checkout gave 500", "remediation": "see logs"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"verdict": "PASS"}
    /// ```
    ///
    /// ## Accepted
    /// ```json against
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    pub static RESPONSE_REWRITTEN: ValidationResponse = {
        id: "response-rewritten",
        code: InvalidTransition,
        severity: Error,
        summary: "a request that was answered is answered otherwise",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    if let Some(first) = it.older.and_then(<[_]>::first)
        && first != it.record
    {
        report.add(
            Pointer::root(),
            format!("task `{}` was answered before, and this answer differs", first.task_id),
            "keep the first answer; if the work has changed, ask for validation again",
        );
    }
}
