use crate::validation::payload::Promise;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The criteria of a promise are numbered in order: the n-th is `AC-n`.
    ///
    /// ## Why
    /// Promise, request and gate speak of the same criterion by its number. A number that is used twice, or left out,
    /// makes evidence for one count for another.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-3", "description": "a full cart is answered with status 201", "status": "pending"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"acceptance_criteria": [
    ///   {"id": "AC-1", "description": "an empty cart is answered with status 400", "status": "pending"},
    ///   {"id": "AC-1", "description": "a full cart is answered with status 201", "status": "pending"}
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
    pub static PROMISE_CRITERIA_MISNUMBERED: Promise = {
        id: "promise-criteria-misnumbered",
        code: SchemaInvalid,
        severity: Error,
        summary: "the criteria of a promise are not numbered AC-1, AC-2 and so on",
        check: check,
    }
}

fn check(it: &Subject<'_, Promise>, report: &mut Report) {
    for (index, criterion) in it.record.acceptance_criteria.iter().enumerate() {
        let number = criterion.id.as_str().strip_prefix("AC-").and_then(|digits| digits.parse().ok());
        if number != Some(index + 1) {
            report.add(
                Pointer::at("/acceptance_criteria").item(index).key("id"),
                format!("criterion number {} is called `{}`", index + 1, criterion.id),
                format!("call it `AC-{}`, or put the criteria in order", index + 1),
            );
        }
    }
}
