use crate::work::payload::{Assignment, ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A task that is done stays done: beside a result that says so, a second one of the same task and run is identical
    /// or was written before. A result that says blocked or failed may be followed by another, since such work is
    /// tried again.
    ///
    /// ## Why
    /// Done is final. Of two results that both claim it, only one was there when the work was accepted; and what stops
    /// after it was done was worked on without being assigned.
    ///
    /// ## Rejected
    /// ```json with subagent_result
    /// {"changes": []}
    /// ```
    /// ```json rejected
    /// {}
    /// ```
    /// ```json with subagent_result
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json rejected
    /// {"status": "failed", "generated_at": "2026-02-07T19:00:00Z"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with subagent_result
    /// {}
    /// ```
    /// ```json accepted
    /// {}
    /// ```
    /// ```json with subagent_result
    /// {"status": "failed", "generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json accepted
    /// {"generated_at": "2026-02-07T19:00:00Z"}
    /// ```
    pub static DONE_REPORTED_AGAIN: SubagentResult = {
        id: "done-reported-again",
        code: InvalidTransition,
        severity: Error,
        summary: "a task that is done has another result",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let one = it.record;
    let Some(other) = it.other::<SubagentResult>(&Assignment::name(&one.run_id, &one.task_id)) else { return };
    let both = one.status == ResultStatus::Done && other.status == ResultStatus::Done;
    if (both && *other != *one) || goes_on(one, &other) || goes_on(&other, one) {
        let message = format!("{} has another result among the documents given, and is done by only one", one.task_id);
        report.add(Pointer::at("/status"), message, "keep the result that was accepted; what is left is a new task");
    }
}

/// Whether `later` tells of work on a task that `earlier` calls done.
fn goes_on(earlier: &SubagentResult, later: &SubagentResult) -> bool {
    let after = earlier.generated_at.as_ref().zip(later.generated_at.as_ref()).is_some_and(|(one, other)| one < other);
    earlier.status == ResultStatus::Done && later.status != ResultStatus::Done && after
}
