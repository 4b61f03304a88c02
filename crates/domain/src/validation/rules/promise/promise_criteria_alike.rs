use crate::validation::matching::alike;
use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two criteria of a promise should say the same.
    ///
    /// ## Why
    /// The same criterion twice is met twice by one piece of evidence, and often stands where another was meant.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-2", "description": " an empty cart is answered with status 400", "status": "pending"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201", "status": "pending"}
    /// ]}
    /// ```
    pub static PROMISE_CRITERIA_ALIKE: Promise = {
        id: "promise-criteria-alike",
        code: SchemaInvalid,
        severity: Warning,
        summary: "two criteria of a promise say the same",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    let criteria = &it.record.acceptance_criteria;
    for (first, again) in alike(criteria, |criterion| &criterion.description) {
        let place = |index| Pointer::at("/acceptance_criteria").item(index).key("description");
        let found = report.add(
            place(again),
            format!("criteria `{}` and `{}` say the same", criteria[first].id, criteria[again].id),
            "say what this one asks for beyond the other",
        );
        found.label(place(first), "the same is said here");
    }
}
