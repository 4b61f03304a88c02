use crate::work::payload::{HandoffBundle, Target};
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// An acceptance target that names a task names one of the ledger.
    ///
    /// ## Why
    /// A condition on a task that is not there is never met, and the run never ends.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"acceptance_targets": [{"task_id": "T-40", "criterion": "All tests pass"}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "acceptance_targets": [
    ///     {"task_id": "T-12", "criterion": "All tests pass"},
    ///     "Money is rounded half to even everywhere"
    ///   ]
    /// }
    /// ```
    pub static TARGET_UNKNOWN: HandoffBundle = {
        id: "target-unknown",
        code: LedgerInconsistent,
        severity: Error,
        summary: "an acceptance target names a task that the ledger does not have",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, acceptance_targets, .. } = it.record;
    let rows = Firsts::new(ledger.len(), |index| &ledger[index].task_id);
    for (index, target) in acceptance_targets.iter().enumerate() {
        if let Target::Task(target) = target
            && rows.find(&target.task_id).is_none()
        {
            let message = format!("the ledger has no row for {}", target.task_id);
            let pointer = Pointer::at("/acceptance_targets").item(index).key("task_id");
            report.add(pointer, message, "add the row, or correct the id");
        }
    }
}
