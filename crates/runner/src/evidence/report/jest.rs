//! jest: at the end `Test Suites: 1 passed, 1 total`, beneath it `Tests:       2 passed, 2 total`, then `Snapshots:`.

use super::{Counts, Reading, contradicts, counted, settle};

const FROM: &str = "jest";

pub(super) fn read(text: &str) -> Option<Reading> {
    let mut summaries = Vec::new();
    let (mut above, mut tests) = ("", "");
    for line in text.lines() {
        if let (Some(suites), Some(list)) = (above.strip_prefix("Test Suites: "), tests.strip_prefix("Tests: "))
            && line.starts_with("Snapshots: ")
        {
            match summary(suites, list) {
                Ok(counts) => summaries.push(counts),
                Err(why) => return Some(contradicts(FROM, why)),
            }
        }
        (above, tests) = (tests, line);
    }
    settle(FROM, &summaries, 0)
}

fn summary(suites: &str, tests: &str) -> Result<Counts, &'static str> {
    let mut counts = Counts::of(FROM);
    let mut total = None;
    for part in tests.split(", ") {
        let (number, what) = counted(part).ok_or("its summary cannot be read")?;
        match what {
            "passed" => counts.passed += number,
            "failed" => counts.failed += number,
            "skipped" | "todo" => counts.skipped += number,
            "total" => total = Some(number),
            _ => return Err("its summary counts something that is not known"),
        }
    }
    if total != Some(counts.passed + counts.failed + counts.skipped) {
        return Err("its summary does not add up");
    }
    let failed = suites.split(", ").filter_map(counted).find(|(_, what)| *what == "failed");
    // A suite that fails although none of its tests did could not be run.
    counts.failed = counts.failed.max(failed.map_or(0, |(number, _)| number));
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    fn run(suites: &str, tests: &str) -> String {
        format!(
            "PASS jt/b.test.js
  ✓ ok (1 ms)

Test Suites: {suites}
Tests:       {tests}
Snapshots:   0 total
Time:        0.325 s
Ran all test suites matching jt/b.test.js.
"
        )
    }

    #[test]
    fn the_summary_is_read_and_a_printed_line_is_not() {
        let cases = [
            ("1 passed, 1 total", "2 passed, 2 total", (2, 0, 0)),
            ("1 failed, 1 total", "1 failed, 1 skipped, 1 todo, 1 passed, 4 total", (1, 1, 2)),
            ("1 skipped, 0 of 1 total", "2 skipped, 2 total", (0, 0, 2)),
            ("1 failed, 1 passed, 2 total", "2 passed, 2 total", (2, 1, 0)),
            ("1 failed, 1 total", "0 total", (0, 1, 0)),
        ];
        for (suites, tests, expected) in cases {
            assert_eq!(brief(read(&run(suites, tests))), Some(Ok(expected)), "{tests}");
        }
        for text in ["No tests found, exiting with code 0\n", "Tests:       9 passed, 9 total\n"] {
            assert_eq!(brief(read(text)), None, "{text}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        let (one, other) =
            (run("1 passed, 1 total", "2 passed, 2 total"), run("1 passed, 1 total", "9 passed, 9 total"));
        for text in [
            format!("{one}{other}"),
            run("1 passed, 1 total", "2 passed, 3 total"),
            run("1 passed, 1 total", "2 passed"),
            run("1 passed, 1 total", "2 lucky, 2 total"),
        ] {
            assert!(matches!(brief(read(&text)), Some(Err(_))), "{text}");
        }
        assert_eq!(brief(read(&format!("{one}{one}"))), Some(Ok((2, 0, 0))));
    }
}
