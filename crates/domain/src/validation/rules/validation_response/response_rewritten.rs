use crate::rewriting::{differs_from_older, has_rival};
use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request is answered once: a second response is identical to the first, whether that is an earlier copy or
    /// another document given with it. Members of your own are part of an answer.
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
    /// ```json against
    /// {"x_log": "2 failed"}
    /// ```
    /// ```json rejected
    /// {"x_log": "all passed"}
    /// ```
    /// ```json with validation_response
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
    /// ```json with validation_response
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
    let task = it.record.task_id.as_str();
    let message = if differs_from_older(it) {
        format!("task `{task}` was answered before, and this answer differs")
    } else if has_rival(it, task) {
        format!("task `{task}` has another answer among the documents given, and the two differ")
    } else {
        return;
    };
    report.add(Pointer::root(), message, "keep the first answer; if the work has changed, ask for validation again");
}
