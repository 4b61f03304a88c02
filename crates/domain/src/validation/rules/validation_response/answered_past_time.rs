use super::request_of;
use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::Verdict;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A request past its time is answered BLOCKED.
    ///
    /// ## Why
    /// Whoever asked has stopped waiting, and may have asked again. An answer that comes late describes work that may
    /// have changed since. A request without `timeout_seconds` allows 300 seconds.
    ///
    /// ## Rejected
    /// ```json with validation_request
    /// {"timeout_seconds": 60}
    /// ```
    /// ```json rejected
    /// {"duration_seconds": 75.5}
    /// ```
    ///
    /// ## Accepted
    /// ```json with validation_request
    /// {}
    /// ```
    /// ```json accepted
    /// {"duration_seconds": 300}
    /// ```
    /// ```json with validation_request
    /// {"timeout_seconds": 60}
    /// ```
    /// ```json accepted
    /// {"duration_seconds": 75.5, "verdict": "BLOCKED", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "BLOCKED", "evidence": "the time of 60 seconds was over"}
    /// ]}
    /// ```
    pub static ANSWERED_PAST_TIME: ValidationResponse = {
        id: "answered-past-time",
        code: TaskTimeout,
        severity: Error,
        summary: "validation took longer than the request allows, and is not answered BLOCKED",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(taken) = it.record.duration_seconds else { return };
    let Some(request) = request_of(it) else { return };
    let allowed = request.timeout_seconds();
    #[expect(clippy::cast_precision_loss, reason = "integers of documents are exact as floats")]
    if taken.get() > allowed as f64 && it.record.verdict != Verdict::Blocked {
        report.add(
            Pointer::at("/duration_seconds"),
            format!("validation took {} seconds, but the request allows {allowed}", taken.get()),
            "ask for validation again, with a timeout that suffices",
        );
    }
}
