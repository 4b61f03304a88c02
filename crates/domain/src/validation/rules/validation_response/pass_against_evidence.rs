use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::Verdict;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Int, Report, Subject, rule, show};

rule! {
    /// A verdict of PASS does not stand against the evidence that was collected for it: no failed tests, no test
    /// command that ended badly, no file without what was expected in it.
    ///
    /// ## Why
    /// The verdict is what is acted on, and the evidence is what is read when something has gone wrong. A criterion
    /// whose evidence shows a failure did not pass, and who overlooked it has not looked.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"evidence_collected": {"test_results": {"command": "cargo test", "exit_code": 101, "passed": 12, "failed": 2}}}
    /// ```
    /// ```json rejected
    /// {"evidence_collected": {"file_checks": [{"path": "src/cart.rs", "exists": true, "contains_expected": false}]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"evidence_collected": {
    ///   "test_results": {"command": "cargo test", "exit_code": 0, "passed": 14, "failed": 0},
    ///   "file_checks": [{"path": "src/old_cart.rs", "exists": false, "note": "removed, as the criterion asks"}]
    /// }}
    /// ```
    /// ```json accepted
    /// {
    ///   "verdict": "FAIL",
    ///   "criteria_results": [
    ///     {"criterion_id": "AC-1", "status": "FAIL", "evidence": "2 of 14 tests fail", "remediation": "see stderr"}
    ///   ],
    ///   "evidence_collected": {"test_results": {"command": "cargo test", "exit_code": 101, "passed": 12, "failed": 2}}
    /// }
    /// ```
    pub static PASS_AGAINST_EVIDENCE: ValidationResponse = {
        id: "pass-against-evidence",
        code: NonCompliant,
        severity: Error,
        summary: "the verdict is PASS, but the collected evidence says otherwise",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    if it.record.verdict != Verdict::Pass {
        return;
    }
    if let Some(tests) = it.record.test_results() {
        let failed = tests.failed.map_or(0, Int::get);
        if failed > 0 || tests.exit_code.get() != 0 {
            let message = format!(
                "the verdict is PASS, but `{}` ended with exit code {} and {failed} failed tests",
                show(tests.command.as_str()),
                tests.exit_code.get(),
            );
            contradicted(Pointer::at("/evidence_collected/test_results"), message, report);
        }
    }
    for (index, file) in it.record.file_checks().iter().enumerate() {
        if file.contains_expected == Some(false) {
            let place = Pointer::at("/evidence_collected/file_checks").item(index).key("contains_expected");
            let path = show(file.path.as_str());
            contradicted(place, format!("the verdict is PASS, but `{path}` lacks what was expected in it"), report);
        }
    }
}

fn contradicted(place: Pointer, message: String, report: &mut Report) {
    let help = "answer FAIL for the criterion that this belongs to; once the work is mended, ask for validation again";
    report.add(place, message, help).label(Pointer::at("/verdict"), "the verdict stands here");
}
