use crate::work::payload::HandoffBundle;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The dependencies of a task stand in one entry.
    ///
    /// ## Why
    /// A reader who has found the first entry does not look for a second, and starts the task too early.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "dependencies": [
    ///     {"task_id": "T-12", "depends_on": ["T-9"]},
    ///     {"task_id": "T-12", "depends_on": ["T-9"]}
    ///   ]
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"dependencies": [{"task_id": "T-12", "depends_on": ["T-9"]}]}
    /// ```
    pub static DEPENDENCY_ENTRY_REPEATED: HandoffBundle = {
        id: "dependency-entry-repeated",
        code: LedgerInconsistent,
        severity: Error,
        summary: "the dependencies of a task are listed in two places",
        check: check,
    }
}

fn check(it: &Subject<'_, HandoffBundle>, report: &mut Report) {
    let entries = &it.record.dependencies;
    for (later, first) in Firsts::new(entries.len(), |index| &entries[index].task_id).repeats() {
        let list = Pointer::at("/dependencies");
        let message = format!("the dependencies of {} stand in two entries", entries[later].task_id);
        let place = report.place(list.clone().item(first));
        let found = report.add(list.item(later), message, "put them into one");
        found.label(place, "first here");
    }
}
