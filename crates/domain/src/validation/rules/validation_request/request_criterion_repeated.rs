use crate::validation::matching::repeated;
use crate::validation::payload::ValidationRequest;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every criterion of a request has an id of its own.
    ///
    /// ## Why
    /// A response answers each criterion by its id. If two share one, an answer for either counts for both, and one of
    /// them is never looked at.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400"},
    ///   {"id": "AC-1", "description": "a full cart is answered with status 201"}
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
    pub static REQUEST_CRITERION_REPEATED: ValidationRequest = {
        id: "request-criterion-repeated",
        code: SchemaInvalid,
        severity: Error,
        summary: "two criteria of a request have the same id",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationRequest>, report: &mut Report) {
    let criteria = &it.record.acceptance_criteria;
    for (first, again) in repeated(criteria, |criterion| criterion.id.as_str()) {
        let list = || Pointer::root().key("acceptance_criteria");
        let found = report.add(
            list().item(again).key("id"),
            format!("criterion id `{}` is used twice", criteria[again].id),
            "give this criterion an id of its own",
        );
        found.label(list().item(first).key("id"), "first used here");
    }
}
