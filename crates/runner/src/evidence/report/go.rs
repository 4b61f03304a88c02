//! `go test -v`: `=== RUN   TestA`, then `--- PASS: TestA (0.00s)`; a part of a test is indented. Each package ends
//! with a line of its own.
//!
//! Without `-v` there are only the lines of packages, and nothing is counted.

use super::{Counts, Reading, contradicts};
use std::collections::BTreeMap;

const FROM: &str = "go test -v";

pub(super) fn read(text: &str) -> Option<Reading> {
    let mut all = Counts::of(FROM);
    let mut tests: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let (mut packages, mut broken) = (0_u64, 0_u64);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            tests.entry(name.trim()).or_insert(None);
        } else if let Some((how, name)) = ending(line) {
            let Some(known) = tests.get_mut(name) else {
                // Others write such lines, too; they are nothing unless go's tests ran.
                if packages > 0 || !tests.is_empty() {
                    return Some(contradicts(FROM, "a test ended that never began"));
                }
                continue;
            };
            if known.is_some_and(|known| known != how) {
                return Some(contradicts(FROM, "a test ended in two ways"));
            }
            *known = Some(how);
        } else if line.starts_with("ok  \t") || line.starts_with("FAIL\t") {
            packages += 1;
            broken += u64::from(line.starts_with("FAIL\t"));
            match count(&std::mem::take(&mut tests)) {
                Some(counts) => all.add(&counts),
                None => return Some(contradicts(FROM, "a test began that did not end")),
            }
        }
    }
    if !tests.is_empty() {
        return Some(contradicts(FROM, "tests ran of which no package tells the end"));
    }
    // A package that fails without a failed test did not build or broke down.
    all.failed = all.failed.max(broken);
    let counted = all.passed + all.failed + all.skipped > 0;
    counted.then_some(Reading::Counts(all))
}

/// Of `--- PASS: TestA (0.00s)` how, and the name.
fn ending(line: &str) -> Option<(&str, &str)> {
    let (how, rest) = line.trim_start_matches(' ').strip_prefix("--- ")?.split_once(": ")?;
    let (name, time) = rest.rsplit_once(" (")?;
    (matches!(how, "PASS" | "FAIL" | "SKIP") && time.ends_with("s)")).then_some((how, name))
}

fn count(tests: &BTreeMap<&str, Option<&str>>) -> Option<Counts> {
    let mut counts = Counts::of(FROM);
    for (name, how) in tests {
        match (*how)? {
            "PASS" => counts.passed += 1,
            "SKIP" => counts.skip(name),
            _ => counts.failed += 1,
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    const VERBOSE: &str = "=== RUN   TestA
--- PASS: TestA (0.00s)
=== RUN   TestB
=== RUN   TestB/one
=== PAUSE TestB/one
=== CONT  TestB/one
    b_test.go:9: not here
--- PASS: TestB (0.00s)
    --- SKIP: TestB/one (0.00s)
PASS
ok  \texample.org/a\t0.002s
=== RUN   TestA
--- PASS: TestA (0.00s)
PASS
ok  \texample.org/b\t(cached)
?   \texample.org/c\t[no test files]
";

    #[test]
    fn tests_of_all_packages_are_counted() {
        let failed = "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.org/a\t0.001s\nFAIL\n";
        let unbuilt = "FAIL\texample.org/a [build failed]\nFAIL\n";
        let cases = [
            (VERBOSE, Some(Ok((3, 0, 1)))),
            (failed, Some(Ok((0, 1, 0)))),
            (unbuilt, Some(Ok((0, 1, 0)))),
            ("ok  \texample.org/a\t0.002s\n", None),
            ("testing: warning: no tests to run\nPASS\nok  \texample.org/a\t0.002s [no tests to run]\n", None),
            ("--- PASS: TestA (0.00s)\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(brief(read(text)), expected, "{text}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        for text in [
            "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n--- PASS: TestA (0.00s)\nok  \tp\t0.1s\n",
            "=== RUN   TestA\nok  \tp\t0.1s\n",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n",
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\nok  \tp\t0.1s\n",
        ] {
            assert!(matches!(brief(read(text)), Some(Err(_))), "{text}");
        }
    }
}
