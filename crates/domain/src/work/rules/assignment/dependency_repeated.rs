use crate::work::payload::Assignment;
use crate::work::places::Firsts;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Each dependency is named once.
    ///
    /// ## Why
    /// Twice means no more than once, and usually another task was meant.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"task": {"dependencies": ["T-9", "T-7", "T-9"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"task": {"dependencies": ["T-9", "T-7"]}}
    /// ```
    pub static DEPENDENCY_REPEATED: Assignment = {
        id: "dependency-repeated",
        code: SchemaInvalid,
        severity: Warning,
        summary: "a dependency is named twice",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let needs = &it.record.task.dependencies;
    for (later, first) in Firsts::new(needs.len(), |index| &needs[index]).repeats() {
        let list = Pointer::at("/task/dependencies");
        let place = report.place(list.clone().item(first));
        let found = report.add(list.item(later), format!("{} is named twice", needs[later]), "name it once");
        let pointer = found.pointer.clone();
        found.label(place, "first here").repair(Repair::remove(pointer, "remove the second"));
    }
}
