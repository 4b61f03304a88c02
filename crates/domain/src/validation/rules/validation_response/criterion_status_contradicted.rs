use crate::validation::payload::ValidationResponse;
use crate::validation::tolerant::contradicting;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule};

rule! {
    /// A result says in one way only how it came out.
    ///
    /// ## Why
    /// Validators say it under many names: `result`, `passed`, `outcome`. Where such a field beside the status says something
    /// else, one of the two is wrong, and nobody but the validator knows which.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "result": "fail", "evidence": "tests/cart.rs:41 asserts 400"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "passed": false, "evidence": "tests/cart.rs:41 asserts 400"}
    /// ]}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "passed": true, "evidence": "tests/cart.rs:41 asserts 400"}
    /// ]}
    /// ```
    pub static CRITERION_STATUS_CONTRADICTED: ValidationResponse = {
        id: "criterion-status-contradicted",
        code: IntegrityMismatch,
        severity: Error,
        summary: "a result says two different things about one criterion",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(written) = it.root.get("criteria_results") else { return };
    for (index, (result, at)) in it.record.criteria_results.iter().zip(written.items()).enumerate() {
        let Some(key) = contradicting(at, result.status) else { continue };
        let place = Pointer::at("/criteria_results").item(index);
        let message = format!("`{key}` contradicts the status {}", result.status);
        let found = report.add(place.clone().key(key), message, "look again, and keep the one that holds");
        found.label(place.key("status"), "said otherwise here");
    }
}
