use crate::validation::matching::repeated;
use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// Every criterion is answered once.
    ///
    /// ## Why
    /// Of two answers for one criterion a reader takes the first or the last, and another reader takes the other. An
    /// exact repetition is removed by `countersign fix`; between two different answers only the validator can choose.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"verdict": "PARTIAL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"},
    ///   {"criterion_id": "AC-1", "status": "FAIL", "evidence": "POST /checkout gave 500", "remediation": "see logs"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"verdict": "PARTIAL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"},
    ///   {"criterion_id": "AC-2", "status": "FAIL", "evidence": "POST /checkout gave 500", "remediation": "see logs"}
    /// ]}
    /// ```
    pub static CRITERION_ANSWERED_TWICE: ValidationResponse = {
        id: "criterion-answered-twice",
        code: CorrelationMismatch,
        severity: Error,
        summary: "a criterion is answered more than once",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let results = &it.record.criteria_results;
    for (first, again) in repeated(results, |result| result.criterion_id.as_str()) {
        let item = |index| Pointer::at("/criteria_results").item(index);
        let found = report.add(
            item(again).key("criterion_id"),
            format!("criterion `{}` is answered twice", results[again].criterion_id),
            "keep the one answer that holds",
        );
        found.label(item(first).key("criterion_id"), "first answered here");
        if results[first] == results[again] {
            found.repair(Repair::remove(item(again), "remove the repetition"));
        }
    }
}
