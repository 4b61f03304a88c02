use crate::work::criterion::Criteria;
use crate::work::payload::SubagentResult;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Each criterion is answered once. Criteria are compared after trimming, in Unicode's normal form C.
    ///
    /// ## Why
    /// Of two answers one is superfluous or wrong, and a reader who finds the first may miss the second.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "status": "failed",
    ///   "acceptance_check": [
    ///     {"criterion": "All tests pass", "status": "pass", "evidence": "cargo test: 14 passed"},
    ///     {"criterion": "All tests pass ", "status": "fail", "evidence": "cargo test --release: 2 failed"}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "acceptance_check": [
    ///     {"criterion": "All tests pass", "status": "pass", "evidence": "cargo test: 14 passed"},
    ///     {"criterion": "No warnings", "status": "pass", "evidence": "cargo clippy"}
    ///   ]
    /// }
    /// ```
    pub static RESULT_CRITERION_ANSWERED_TWICE: SubagentResult = {
        id: "result-criterion-answered-twice",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a criterion is answered twice",
        check: check,
    }
}

fn check(it: &Subject<'_, SubagentResult>, report: &mut Report) {
    let answers = &it.record.acceptance_check;
    for (later, first) in Criteria::new(answers.len(), |index| &answers[index].criterion).repeats() {
        let list = Pointer::at("/acceptance_check");
        let message = format!("`{}` is answered twice", answers[later].criterion.escaped());
        let place = report.place(list.clone().item(first));
        let (one, other) = (&answers[later], &answers[first]);
        let same = one.status == other.status && one.evidence == other.evidence;
        let found = report.add(list.item(later), message, "keep the answer that is true, with all its evidence");
        found.label(place, "first here");
        if same {
            let pointer = found.pointer.clone();
            found.repair(Repair::remove(pointer, "remove the second"));
        }
    }
}
