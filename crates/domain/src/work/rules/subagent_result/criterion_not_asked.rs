use crate::work::criterion::Criteria;
use crate::work::payload::{Assignment, SubagentResult};
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A result answers the criteria of its assignment and no others.
    ///
    /// ## Why
    /// An answer to a criterion that nobody asked for is most often one that was asked in other words, and easier to
    /// meet.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"acceptance_criteria": ["All tests pass", "No warnings"]}}
    /// ```
    /// ```json rejected
    /// {
    ///   "status": "failed",
    ///   "acceptance_check": [
    ///     {"criterion": "Most tests pass", "status": "pass", "evidence": "cargo test: 12 of 14 passed"}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"acceptance_criteria": ["All tests pass", "No warnings"]}}
    /// ```
    /// ```json accepted
    /// {
    ///   "status": "failed",
    ///   "acceptance_check": [
    ///     {"criterion": "All tests pass", "status": "fail", "evidence": "cargo test: 12 of 14 passed"}
    ///   ]
    /// }
    /// ```
    pub static CRITERION_NOT_ASKED: SubagentResult = {
        id: "criterion-not-asked",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a criterion is answered that the assignment does not have",
        check: check,
    }
}

/// How many criteria are searched for the one that was meant.
const VARIANTS_MAX: usize = 64;

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    if it.others.is_empty() {
        return;
    }
    let Some(assignment) = it.kin::<Assignment>() else { return };
    let asked = &assignment.task.acceptance_criteria;
    let criteria = Criteria::new(asked.len(), |index| &asked[index]);
    for (index, answer) in it.record.acceptance_check.iter().enumerate() {
        if answer.criterion.inspect(|text| criteria.find(text)).is_some() {
            continue;
        }
        let is_meant = |asked: &str| answer.criterion.inspect(|text| is_variant(asked, text));
        let mut meant = asked
            .iter()
            .take(VARIANTS_MAX)
            .filter_map(|asked| asked.inspect(|asked| is_meant(asked).then(|| asked.to_owned())));
        // Where two could be meant, only the worker knows which of them it looked at.
        let meant = meant.next().filter(|_| meant.next().is_none() && asked.len() <= VARIANTS_MAX);
        let found = report.add(
            Pointer::at("/acceptance_check").item(index).key("criterion"),
            format!("the assignment does not ask for `{}`", answer.criterion.escaped()),
            "answer the criteria of the assignment, in its words",
        );
        if let Some(meant) = meant {
            let pointer = found.pointer.clone();
            found.repair(Repair::replace(pointer, meant, "write it as the assignment does"));
        }
    }
}

/// Whether two texts differ only in case, white space and a full stop at the end.
fn is_variant(one: &str, other: &str) -> bool {
    let words = |text: &str| text.trim().trim_end_matches('.').to_lowercase();
    words(one).split_whitespace().eq(words(other).split_whitespace())
}
