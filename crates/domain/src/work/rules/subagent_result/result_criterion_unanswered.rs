use crate::work::criterion::Criteria;
use crate::work::payload::{Assignment, ResultStatus, SubagentResult};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Work that is called done answers every criterion of its assignment, in its words.
    ///
    /// ## Why
    /// A criterion that is left out is one that nobody looked at. Answers are matched by text, after trimming and in
    /// Unicode's normal form C, so that a criterion cannot be weakened on the way.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"acceptance_criteria": ["All tests pass", "No warnings"]}}
    /// ```
    /// ```json rejected
    /// {"acceptance_check": [{"criterion": "All tests pass", "status": "pass", "evidence": "cargo test: 14 passed"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"acceptance_criteria": ["All tests pass", "No warnings"]}}
    /// ```
    /// ```json accepted
    /// {
    ///   "acceptance_check": [
    ///     {"criterion": "No warnings", "status": "pass", "evidence": "cargo clippy"},
    ///     {"criterion": " All tests pass", "status": "pass", "evidence": "cargo test: 14 passed"}
    ///   ]
    /// }
    /// ```
    pub static RESULT_CRITERION_UNANSWERED: SubagentResult = {
        id: "result-criterion-unanswered",
        code: CorrelationMismatch,
        severity: Error,
        summary: "work is called done, but a criterion of its assignment is not answered",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let answers = &it.record.acceptance_check;
    // A result without any answer is told so by itself.
    if it.others.is_empty() || it.record.status != ResultStatus::Done || answers.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let answered = Criteria::new(answers.len(), |index| &answers[index].criterion);
    for criterion in assignment.task.acceptance_criteria.iter() {
        if criterion.inspect(|text| answered.find(text)).is_none() {
            let message = format!("the work is called done, but `{}` is not answered", criterion.escaped());
            report.add(Pointer::at("/acceptance_check"), message, "answer it in the words of the assignment");
        }
    }
}
