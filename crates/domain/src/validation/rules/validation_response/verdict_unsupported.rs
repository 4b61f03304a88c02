use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Subject, rule};

rule! {
    /// The verdict is the one that follows from the results.
    ///
    /// All PASS gives PASS. No PASS and at least one FAIL gives FAIL. Any PASS beside something else gives PARTIAL.
    /// Nothing but SKIP and BLOCKED gives BLOCKED.
    ///
    /// ## Why
    /// Whoever reads the verdict acts on it and does not read the results again. `countersign fix` writes the verdict
    /// that follows, but only where that lets no more through than the claimed one did: a validator that passed every
    /// criterion and still said FAIL knows something that the results do not say, and must be asked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"verdict": "PASS", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"},
    ///   {"criterion_id": "AC-2", "status": "SKIP", "evidence": "no staging environment"}
    /// ]}
    /// ```
    /// ```json rejected
    /// {"verdict": "FAIL"}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"verdict": "PARTIAL", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "PASS", "evidence": "tests/cart.rs:41 asserts 400"},
    ///   {"criterion_id": "AC-2", "status": "SKIP", "evidence": "no staging environment"}
    /// ]}
    /// ```
    /// ```json accepted
    /// {"verdict": "BLOCKED", "criteria_results": [
    ///   {"criterion_id": "AC-1", "status": "BLOCKED", "evidence": "port 3000 refused the connection"}
    /// ]}
    /// ```
    pub static VERDICT_UNSUPPORTED: ValidationResponse = {
        id: "verdict-unsupported",
        code: NonCompliant,
        severity: Error,
        summary: "the verdict does not follow from the results",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let (claimed, follows) = (it.record.verdict, it.record.verdict_that_follows());
    if claimed == follows {
        return;
    }
    let place = Pointer::at("/verdict");
    let message = format!("verdict {claimed} does not follow from the results, which come to {follows}");
    if follows.is_at_most(claimed) {
        let found = report.add(place.clone(), message, format!("write {follows}, or correct the results"));
        found.repair(Repair::replace(
            place,
            follows.as_str(),
            format!("write {follows}, which follows from the results"),
        ));
    } else {
        let help = "ask the validator which of the two is meant; a verdict is not raised without one";
        report.add(place, message, help).label(Pointer::at("/criteria_results"), format!("these come to {follows}"));
    }
}
