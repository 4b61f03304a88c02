use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Int, Report, Subject, rule};

rule! {
    /// A test command that ends with another exit code than 0 should have a failed test to show for it.
    ///
    /// ## Why
    /// The run failed for a reason that the counts do not show: it did not build, a threshold was missed, or the
    /// counts are of another run. It is a warning, because such reasons exist.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "verdict": "FAIL",
    ///   "criteria_results": [
    ///     {"criterion_id": "AC-1", "status": "FAIL", "evidence": "the run ends with 1", "remediation": "see stderr"}
    ///   ],
    ///   "evidence_collected": {"test_results": {"command": "cargo test", "exit_code": 1, "passed": 14, "failed": 0}}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {
    ///   "verdict": "FAIL",
    ///   "criteria_results": [
    ///     {"criterion_id": "AC-1", "status": "FAIL", "evidence": "2 of 14 tests fail", "remediation": "see stderr"}
    ///   ],
    ///   "evidence_collected": {"test_results": {"command": "cargo test", "exit_code": 101, "passed": 12, "failed": 2}}
    /// }
    /// ```
    pub static TEST_EXIT_UNEXPLAINED: ValidationResponse = {
        id: "test-exit-unexplained",
        code: IntegrityMismatch,
        severity: Warning,
        summary: "the test command failed, but no test did",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(tests) = it.record.test_results() else { return };
    let passed = tests.passed.map_or(0, Int::get);
    let none_failed = tests.failed.is_some_and(|failed| failed.get() == 0);
    if tests.exit_code.get() != 0 && none_failed && passed > 0 {
        report.add(
            Pointer::at("/evidence_collected/test_results/exit_code"),
            format!("the exit code is {}, but no test failed", tests.exit_code.get()),
            "say in the reasoning why the run failed, or report the counts of that run",
        );
    }
}
