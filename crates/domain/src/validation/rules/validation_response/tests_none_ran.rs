use crate::validation::payload::ValidationResponse;
use crate::validation::verdict::Verdict;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Int, Report, Subject, rule};

rule! {
    /// A test run that is cited for PASS has run tests.
    ///
    /// ## Why
    /// A command that finds no tests ends well. So does one whose tests are all skipped.
    ///
    /// ## Rejected
    /// ```json rejected
    /// {"evidence_collected": {"test_results":
    ///   {"command": "cargo test cart_empty", "exit_code": 0, "passed": 0, "failed": 0, "skipped": 9}}}
    /// ```
    ///
    /// ## Accepted
    /// ```json accepted
    /// {"evidence_collected": {"test_results":
    ///   {"command": "cargo test cart", "exit_code": 0, "passed": 9, "failed": 0, "skipped": 0}}}
    /// ```
    pub static TESTS_NONE_RAN: ValidationResponse = {
        id: "tests-none-ran",
        code: AcceptanceFailed,
        severity: Warning,
        summary: "a verdict of PASS cites a test run in which no test ran",
        check: check,
    }
}

fn check(it: &Subject<'_, ValidationResponse>, report: &mut Report) {
    let Some(tests) = it.record.test_results() else { return };
    let none = |count: Option<Int>| count.is_none_or(|count| count.get() == 0);
    let counted = tests.passed.is_some();
    if it.record.verdict == Verdict::Pass && counted && none(tests.passed) && none(tests.failed) {
        report.add(
            Pointer::at("/evidence_collected/test_results/passed"),
            "the verdict is PASS, but the test run that it cites ran no test",
            "run the tests that show the criteria, and report that run",
        );
    }
}
