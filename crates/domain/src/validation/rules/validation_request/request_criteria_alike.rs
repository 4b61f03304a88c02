use crate::validation::matching::alike;
use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// No two criteria of a request should say the same.
    ///
    /// ## Why
    /// The same criterion under two ids is looked at twice and counted twice, and often stands where another was meant
    /// to be copied and changed.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400"},
    ///   {"id": "AC-2", "description": "an empty cart is answered with status 400 "}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400"},
    ///   {"id": "AC-2", "description": "a full cart is answered with status 201"}
    /// ]}
    /// ```
    pub static REQUEST_CRITERIA_ALIKE: ValidationRequest = {
        id: "request-criteria-alike",
        code: SchemaInvalid,
        severity: Warning,
        summary: "two criteria of a request say the same",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let criteria = &it.record.acceptance_criteria;
    for (first, again) in alike(criteria, |criterion| &criterion.description) {
        let list = || Pointer::root().key("acceptance_criteria");
        let found = report.add(
            list().item(again).key("description"),
            format!("criteria `{}` and `{}` say the same", criteria[first].id, criteria[again].id),
            "say what this one asks for beyond the other, or remove it",
        );
        found.label(list().item(first).key("description"), "the same is said here");
    }
}
