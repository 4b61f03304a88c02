//! vitest: at the end `Test Files  1 passed (1)`, beneath it `Tests  3 passed | 1 skipped (4)`, then when it began and
//! how long it took.

use super::{Counts, Reading, contradicts, counted, digits, settle};

const FROM: &str = "vitest";

pub(super) fn read(text: &str) -> Option<Reading> {
    let (mut starts, mut summaries) = (0, Vec::new());
    // The line of files, which stands right above that of tests.
    let mut files: Option<&str> = None;
    let mut open: Option<Counts> = None;
    for line in text.lines().map(str::trim) {
        if line.strip_prefix("RUN ").is_some_and(|rest| rest.trim_start().starts_with('v')) {
            starts += 1;
        } else if let (Some(files), Some(tests)) = (files, line.strip_prefix("Tests ")) {
            match summary(files, tests) {
                Ok(counts) => open = Some(counts),
                Err(why) => return Some(contradicts(FROM, why)),
            }
        } else if let (Some(counts), Some(errors)) = (&mut open, line.strip_prefix("Errors ")) {
            counts.failed += counted(errors).map_or(0, |(number, _)| number);
        } else if line.starts_with("Start at ") {
            summaries.extend(open.take());
        }
        files = line.strip_prefix("Test Files ");
    }
    settle(FROM, &summaries, starts)
}

fn summary(files: &str, tests: &str) -> Result<Counts, &'static str> {
    let files = parts(files)?;
    let tests = if tests.trim() == "no tests" { Counts::of(FROM) } else { parts(tests)? };
    // A file that fails although none of its tests did could not be read.
    Ok(Counts { failed: tests.failed.max(files.failed), ..tests })
}

/// Reads `1 failed | 2 passed | 1 skipped | 1 todo (5)`.
fn parts(text: &str) -> Result<Counts, &'static str> {
    let (list, total) = text.trim().rsplit_once(" (").ok_or("its summary has no total")?;
    let total = total.strip_suffix(')').and_then(digits).ok_or("its summary has no total")?;
    let mut counts = Counts::of(FROM);
    for part in list.split(" | ") {
        let (number, what) = counted(part).ok_or("its summary cannot be read")?;
        match what {
            "passed" => counts.passed += number,
            "failed" => counts.failed += number,
            "skipped" | "todo" | "expected fail" => counts.skipped += number,
            _ => return Err("its summary counts something that is not known"),
        }
    }
    if counts.passed + counts.failed + counts.skipped == total {
        Ok(counts)
    } else {
        Err("its summary does not add up")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    fn run(files: &str, tests: &str) -> String {
        format!(
            "
 RUN  v4.1.12 /project

stdout | vt/b.test.js > ok
Tests  9 passed (9)

 ✓ vt/b.test.js (1 test) 3ms

 Test Files  {files}
      Tests  {tests}
   Start at  06:21:26
   Duration  221ms (transform 14ms, setup 0ms, import 25ms, tests 3ms, environment 0ms)

"
        )
    }

    #[test]
    fn the_summary_is_read_and_a_printed_line_is_not() {
        let cases = [
            ("1 passed (1)", "1 passed (1)", (1, 0, 0)),
            ("1 failed (1)", "1 failed | 1 passed | 1 skipped | 1 todo (4)", (1, 1, 2)),
            ("1 failed | 1 passed (2)", "1 failed | 2 passed | 1 skipped | 1 todo (5)", (2, 1, 2)),
            ("1 skipped (1)", "1 skipped (1)", (0, 0, 1)),
            ("1 failed (1)", "no tests", (0, 1, 0)),
        ];
        for (files, tests, expected) in cases {
            assert_eq!(brief(read(&run(files, tests))), Some(Ok(expected)), "{tests}");
        }
        let none = "\n RUN  v4.1.12 /project\n\nNo test files found, exiting with code 0\n";
        assert_eq!(brief(read(none)), None);
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        let fake = " Test Files  1 passed (1)\n      Tests  9 passed (9)\n   Start at  06:21:26\n";
        for text in [
            format!("{}{fake}", run("1 passed (1)", "1 passed (1)")),
            run("1 passed (1)", "1 passed (2)"),
            run("1 passed (1)", "1 lucky (1)"),
        ] {
            assert!(matches!(brief(read(&text)), Some(Err(_))), "{text}");
        }
    }
}
