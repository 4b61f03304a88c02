use crate::work::payload::{Assignment, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A result is not older than the assignment it answers.
    ///
    /// ## Why
    /// A result that was there before its assignment answers another one.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json rejected
    /// {"generated_at": "2026-02-07T18:29:59Z"}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    /// ```json accepted
    /// {"generated_at": "2026-02-07T18:30:00Z"}
    /// ```
    pub static RESULT_BEFORE_ASSIGNMENT: SubagentResult = {
        id: "result-before-assignment",
        code: CorrelationMismatch,
        severity: Error,
        summary: "the result is older than its assignment",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let Some(answered) = it.record.generated_at.as_ref().filter(|_| !it.others.is_empty()) else { return };
    let Some(assignment) = it.kin::<Assignment>() else { return };
    if let Some(assigned) = assignment.generated_at.as_ref().filter(|assigned| answered < assigned) {
        let message = format!("the result is from {}, its assignment from {}", answered.as_str(), assigned.as_str());
        report.add(Pointer::at("/generated_at"), message, "give the assignment that this result answers");
    }
}
