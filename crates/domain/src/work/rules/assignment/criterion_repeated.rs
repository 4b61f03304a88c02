use crate::work::criterion::Criteria;
use crate::work::payload::Assignment;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Each criterion stands in the list once. Criteria are compared after trimming, in Unicode's normal form C.
    ///
    /// ## Why
    /// A result answers each criterion once, by its text. Nobody can tell which of two equal ones an answer is for.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"acceptance_criteria": ["All tests pass", " All tests pass"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"acceptance_criteria": ["All tests pass", "No warnings"]}}
    /// ```
    pub static CRITERION_REPEATED: Assignment = {
        id: "criterion-repeated",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a criterion stands there twice",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let criteria = &it.record.task.acceptance_criteria;
    for (later, first) in Criteria::new(criteria.len(), |index| &criteria[index]).repeats() {
        let list = Pointer::at("/task/acceptance_criteria");
        let place = report.place(list.clone().item(first));
        let found = report.add(list.item(later), "this criterion stands there twice", "keep one of the two");
        let pointer = found.pointer.clone();
        found.label(place, "first here").repair(Repair::remove(pointer, "remove the second"));
    }
}
