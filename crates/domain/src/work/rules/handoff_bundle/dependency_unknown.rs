use crate::ids::TaskId;
use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every task in `dependencies` has a row in the ledger.
    ///
    /// ## Why
    /// A task that waits for one that is not there waits for ever, or starts because nobody can say that it must not.
    ///
    /// ## Rejected
    /// ```json rejected also:row-started-early
    /// {"dependencies": [{"task_id": "T-12", "depends_on": ["T-8"]}]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"dependencies": [{"task_id": "T-12", "depends_on": ["T-9"]}]}
    /// ```
    pub static DEPENDENCY_UNKNOWN: HandoffBundle = {
        id: "dependency-unknown",
        code: LedgerInconsistent,
        severity: Error,
        summary: "a dependency names a task that the ledger does not have",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let HandoffBundle { ledger, dependencies, .. } = it.record;
    let rows = Firsts::new(ledger.len(), |index| &ledger[index].task_id);
    for (index, dependency) in dependencies.iter().enumerate() {
        let place = || Pointer::at("/dependencies").item(index);
        if rows.find(&dependency.task_id).is_none() {
            add(&dependency.task_id, place().key("task_id"), report);
        }
        for (number, task) in dependency.depends_on.iter().enumerate() {
            if rows.find(task).is_none() {
                add(task, place().key("depends_on").item(number), report);
            }
        }
    }
}

fn add(task: &TaskId, pointer: Pointer, report: &mut Report) {
    report.add(pointer, format!("the ledger has no row for {task}"), "add the row, or correct the id");
}
