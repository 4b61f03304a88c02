use crate::validation::payload::ValidationResponse;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Int, Report, Subject, rule};

rule! {
    /// A test command that ends with exit code 0 has no failed tests.
    ///
    /// ## Why
    /// One of the two numbers is not that of the run: a pipe or `|| true` has swallowed the exit code, or the counts
    /// are of another run. Evidence that contradicts itself shows nothing.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {
    ///   "verdict": "FAIL",
    ///   "criteria_results": [
    ///     {"criterion_id": "AC-1", "status": "FAIL", "evidence": "2 of 11 tests fail", "remediation": "see stderr"}
    ///   ],
    ///   "evidence_collected": {"test_results": {"command": "npm test | cat", "exit_code": 0, "passed": 9, "failed": 2}}
    /// }
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"evidence_collected": {"test_results": {"command": "cargo test", "exit_code": 0, "passed": 14, "failed": 0}}}
    /// ```
    pub static TEST_FAILURES_EXIT_ZERO: ValidationResponse = {
        id: "test-failures-exit-zero",
        code: IntegrityMismatch,
        severity: Error,
        summary: "tests failed, yet the command is said to have ended well",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(tests) = it.record.test_results() else { return };
    let failed = tests.failed.map_or(0, Int::get);
    if tests.exit_code.get() == 0 && failed > 0 {
        let found = report.add(
            Pointer::at("/evidence_collected/test_results/exit_code"),
            format!("the exit code is 0, but {failed} tests failed"),
            "run the tests so that their own exit code is kept, and report both numbers of that run",
        );
        found.label(Pointer::at("/evidence_collected/test_results/failed"), "failures are counted here");
    }
}
