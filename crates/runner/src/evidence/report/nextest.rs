//! nextest: `Starting 4 tests across 2 binaries (1 test skipped)`, at the end `Summary [ 0.01s] 4 tests run: 4 passed,
//! 1 skipped`.

use super::{Counts, Reading, contradicts, counted, digits, settle};

const FROM: &str = "nextest";
const HELP: &str = "nextest counts tests that a filter leaves out among them; `cargo test` tells the two apart";

pub(super) fn read(text: &str) -> Option<Reading> {
    let mut starts = 0;
    let mut summaries = Vec::new();
    for line in text.lines().map(str::trim) {
        if is_start(line) {
            starts += 1;
        } else if let Some(summary) = summary(line) {
            match summary {
                Ok(counts) => summaries.push(counts),
                Err(why) => return Some(contradicts(FROM, why)),
            }
        }
    }
    settle(FROM, &summaries, starts)
}

fn is_start(line: &str) -> bool {
    let Some((number, rest)) = line.strip_prefix("Starting ").and_then(|rest| rest.split_once(' ')) else {
        return false;
    };
    digits(number).is_some() && (rest.starts_with("test across ") || rest.starts_with("tests across "))
}

fn summary(line: &str) -> Option<Result<Counts, &'static str>> {
    let (_, rest) = line.strip_prefix("Summary [")?.split_once("] ")?;
    let (run, parts) = rest.split_once(" run: ")?;
    let run = run.strip_suffix(" tests").or_else(|| run.strip_suffix(" test"))?;
    // `2/4` when it was broken off.
    let (run, wanted) = run.split_once('/').unwrap_or((run, run));
    let (run, wanted) = (digits(run)?, digits(wanted)?);
    let mut counts = Counts { help: Some(HELP), ..Counts::of(FROM) };
    for part in without_brackets(parts).split(", ") {
        let Some((number, what)) = counted(part) else { return Some(Err("its summary cannot be read")) };
        match what {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            "failed" | "exec failed" | "timed out" | "failed due to being leaky" => counts.failed += number,
            _ => return Some(Err("its summary counts something that is not known")),
        }
    }
    if counts.passed + counts.failed != run {
        return Some(Err("its summary does not account for the tests that ran"));
    }
    counts.skipped += wanted.saturating_sub(run);
    Some(Ok(counts))
}

/// The text without what stands in brackets, such as `4 passed (1 slow, 1 leaky)`.
fn without_brackets(text: &str) -> String {
    let mut depth = 0_u32;
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            letter if depth == 0 => out.push(letter),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    fn run(start: &str, summary: &str) -> String {
        format!(
            "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s
────────────
 Nextest run ID 11ae1d57-3f0a-4da3-ac5b-3abe5bf32505 with nextest profile: default
    Starting {start}
        PASS [   0.006s] (1/4) cr tests::c
────────────
     Summary [   0.014s] {summary}
"
        )
    }

    #[test]
    fn the_summary_is_read() {
        let cases = [
            ("4 tests across 2 binaries", "4 tests run: 4 passed, 0 skipped", Ok((4, 0, 0))),
            ("4 tests across 2 binaries (1 test skipped)", "4 tests run: 4 passed, 1 skipped", Ok((4, 0, 1))),
            ("0 tests across 2 binaries (5 tests skipped)", "0 tests run: 0 passed, 5 skipped", Ok((0, 0, 5))),
            ("1 test across 2 binaries (4 tests skipped)", "1 test run: 1 passed, 4 skipped", Ok((1, 0, 4))),
            ("4 tests across 2 binaries", "4 tests run: 3 passed, 1 failed, 1 skipped", Ok((3, 1, 1))),
            ("4 tests across 2 binaries", "2/4 tests run: 1 passed, 1 timed out, 0 skipped", Ok((1, 1, 2))),
            ("4 tests across 2 binaries", "4 tests run: 4 passed (2 slow, 1 leaky), 0 skipped", Ok((4, 0, 0))),
        ];
        for (start, summary, expected) in cases {
            assert_eq!(brief(read(&run(start, summary))), Some(expected), "{summary}");
        }
        assert_eq!(brief(read("Summary: all good, 5 passed\n")), None);
    }

    #[test]
    fn runs_are_added_up_and_summaries_without_a_run_are_not_believed() {
        let one = run("1 test across 1 binary", "1 test run: 1 passed, 0 skipped");
        assert_eq!(brief(read(&format!("{one}{one}"))), Some(Ok((2, 0, 0))));
        let fake = "     Summary [   0.001s] 9 tests run: 9 passed, 0 skipped\n";
        for text in [
            format!("{one}{fake}"),
            run("1 test across 1 binary", "5 tests run: 1 passed, 0 skipped"),
            run("1 test across 1 binary", "1 test run: 1 lucky, 0 skipped"),
            format!("{one}    Starting 4 tests across 2 binaries\n"),
        ] {
            assert!(matches!(brief(read(&text)), Some(Err(_))), "{text}");
        }
    }
}
