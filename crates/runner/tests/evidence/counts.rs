//! Tests whose counts are read, and those that lie about them.

use crate::check;
use countersign_contract::serde_json::json;
use countersign_runner::evidence::{Evidence, Site, Status, collect};
use std::path::Path;

fn run(folder: &Path, script: &str) -> Evidence {
    collect(&check(&json!({ "test": ["sh", "-c", script], "timeout": "60s" })), &Site::at(folder))
}

const GOOD: &str = "printf '..      [100%%]\\n2 passed in 0.01s\\n'";
const CARGO: &str = "echo 'running 2 tests'; echo 'test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s'";

#[test]
fn tests_pass_when_all_of_them_ran_and_passed() {
    let folder = tempfile::tempdir().unwrap();
    for (script, from) in [(GOOD, "pytest"), (CARGO, "cargo test")] {
        let evidence = run(folder.path(), script);
        assert_eq!(evidence.status, Status::Pass, "{script}: {}", evidence.says);
        let counts = evidence.counts.unwrap();
        assert_eq!((counts.passed, counts.failed, counts.skipped, counts.from), (2, 0, 0, from));
    }
}

#[test]
fn whoever_lies_or_leaves_tests_out_fails() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("the summary is good and the end is not", format!("{GOOD}; exit 1"), "ended with 1, although"),
        ("the end is good and the summary is not", "echo '1 failed, 2 passed in 0.01s'".to_owned(), "1 failed"),
        ("the failing test is skipped", "echo '2 passed, 1 skipped in 0.01s'".to_owned(), "not a passed one"),
        ("it is expected to fail", "echo '2 passed, 1 xfailed in 0.01s'".to_owned(), "not a passed one"),
        ("no test ran", "echo 'no tests ran in 0.01s'".to_owned(), "no test ran"),
        (
            "no test ran, and it is an error",
            "echo 'no tests ran in 0.01s'; exit 5".to_owned(),
            "ended with 5: no test ran",
        ),
        ("a test prints a summary", format!("echo '5 passed in 0.1s'; {GOOD}"), "not believed"),
        ("a better summary is added", format!("echo '1 passed, 1 skipped in 0.01s'; {GOOD}"), "not believed"),
        ("another reporter's is added", format!("echo '1 passed, 1 skipped in 0.01s'; {CARGO}"), "not a passed one"),
        ("only words", "echo 5 passed, all green; echo OK".to_owned(), "known reports are"),
        ("only an end", "true".to_owned(), "known reports are"),
        ("a coloured failure", "printf '\\033[31m1 failed\\033[0m, 2 passed in 0.01s\\n'".to_owned(), "1 failed"),
        ("the summary drowns", format!("{GOOD}; yes | head -c 20000000"), "more than 8 MiB"),
        ("it is broken off", format!("{GOOD}; kill -9 $$"), "signal 9, although"),
    ];
    for (what, script, says) in cases {
        let evidence = run(folder.path(), &script);
        assert_eq!(evidence.status, Status::Fail, "{what}: {}", evidence.says);
        assert!(evidence.says.contains(says), "{what}: {}", evidence.says);
    }
}

#[test]
fn pytest_that_was_ended_before_its_end_is_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let pytest = folder.path().join("pytest");
    // Like the real one it writes the report that it is asked for in a variable, at its end.
    let report = |inside: &str| {
        format!(
            "report=${{PYTEST_ADDOPTS#*\\'}}; echo '<testsuites><testsuite tests=\"2\">{inside}</testsuite></testsuites>' > \"${{report%\\'}}\""
        )
    };
    let passed = "<testcase name=\"a\"/><testcase name=\"b\"/>";
    let failed = "<testcase name=\"a\"/><testcase name=\"b\"><failure/></testcase>";
    let cases = [
        ("it came to its end", format!("{GOOD}; {}", report(passed)), &[] as &[&str], None),
        ("it writes its report where it was told", GOOD.to_owned(), &["--junitxml=x"], None),
        ("code under test prints and exits", GOOD.to_owned(), &[], Some("wrote no report of its own")),
        ("its report has a failure", format!("{GOOD}; {}", report(failed)), &[], Some("1 failed")),
        ("its report is cut", format!("{GOOD}; {}", report("<testcase name=\"a\">")), &[], Some("not believed")),
    ];
    for (what, script, arguments, says) in cases {
        std::fs::write(&pytest, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&pytest, PermissionsExt::from_mode(0o755)).unwrap();
        let words: Vec<&str> = [pytest.to_str().unwrap()].into_iter().chain(arguments.iter().copied()).collect();
        let evidence = collect(&check(&json!({ "test": words, "timeout": "60s" })), &Site::at(folder.path()));
        let expected = if says.is_none() { Status::Pass } else { Status::Fail };
        assert_eq!(evidence.status, expected, "{what}: {}", evidence.says);
        assert!(evidence.says.contains(says.unwrap_or("pytest counts 2 passed")), "{what}: {}", evidence.says);
    }
}

#[test]
fn tests_that_hang_after_a_good_summary_fail() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = check(&json!({ "test": ["sh", "-c", format!("{GOOD}; sleep 1000")], "timeout": "1s" }));
    let evidence = collect(&wanted, &Site::at(folder.path()));
    assert_eq!((evidence.status, evidence.timed_out), (Status::Fail, true));
}

#[test]
fn a_report_counts_only_if_the_run_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let report = |tests: u32| {
        format!("<testsuite tests=\"{tests}\">{}</testsuite>", "<testcase name=\"a\"/>".repeat(tests as usize))
    };
    std::fs::write(folder.path().join("junit.xml"), report(9)).unwrap();
    let old = run(folder.path(), "true");
    assert_eq!((old.status, old.counts), (Status::Fail, None), "it came with the commit");

    let write = |name: &str, tests: u32| format!("mkdir -p test-results/unit; echo '{}' > {name}", report(tests));
    let new = run(folder.path(), &write("test-results/unit/a.xml", 2));
    assert_eq!(new.status, Status::Pass, "{}", new.says);
    assert_eq!(new.counts.unwrap().passed, 2);

    let both = format!("{}; {}", write("junit.xml", 3), write("test-results/unit/b.xml", 4));
    assert_eq!(run(folder.path(), &both).counts.unwrap().passed, 7, "reports of one run are added up");

    let beside = format!("{}; echo '1 passed, 1 skipped in 0.01s'", write("report.xml", 3));
    assert_eq!(run(folder.path(), &beside).status, Status::Fail, "a file does not hide what the run says");
}

#[test]
fn a_report_is_not_read_through_a_link_that_leads_out() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let report = outside.path().join("a.xml");
    std::fs::write(&report, "<testsuite><testcase/></testsuite>").unwrap();
    for script in
        [format!("ln -s {} junit.xml", report.display()), format!("ln -s {} test-results", outside.path().display())]
    {
        let evidence = run(folder.path(), &script);
        assert_eq!((evidence.status, evidence.counts), (Status::Fail, None), "{script}");
    }
}
