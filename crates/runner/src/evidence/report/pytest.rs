//! pytest: `2 passed, 1 skipped in 0.02s`, within `=` unless it is told to be quiet.
//!
//! A test that is expected to fail is skipped: whether it fails shows nothing. What was deselected without the command
//! line's asking for it was deselected by a file of the worker's, and is skipped, too.

use super::{Counts, Reading, contradicts, counted, digits, settle};

const FROM: &str = "pytest";

pub(super) fn read(text: &str, arguments: &[String]) -> Option<Reading> {
    let chosen = chooses(arguments);
    let mut starts = 0;
    let mut names = Counts::of(FROM);
    let mut summaries = Vec::new();
    for line in text.lines() {
        let bare = line.trim_matches(|letter| matches!(letter, '=' | ' '));
        if bare == "test session starts" && line.starts_with('=') {
            starts += 1;
        } else if let Some(name) = skipped(line) {
            names.name(name);
        } else if let Some(summary) = summary(bare, chosen) {
            match summary {
                Ok(counts) => summaries.push(counts),
                Err(why) => return Some(contradicts(FROM, why)),
            }
        }
    }
    let reading = settle(FROM, &summaries, starts)?;
    match reading {
        Reading::Counts(counts) => Some(Reading::Counts(Counts { which: names.which, ..counts })),
        contradiction => Some(contradiction),
    }
}

/// Whether the command line itself leaves tests out.
fn chooses(arguments: &[String]) -> bool {
    let is_pytest = |argument: &String| argument.rsplit(['/', '\\']).next().is_some_and(|it| it.starts_with("pytest"));
    let own = arguments.iter().skip_while(|it| !is_pytest(it)).skip(1);
    let choosing = ["-k", "-m", "--deselect", "--lf", "--last-failed"];
    own.map(String::as_str).any(|it| choosing.iter().any(|choice| it.starts_with(choice)))
}

fn summary(bare: &str, chosen: bool) -> Option<Result<Counts, &'static str>> {
    let (parts, time) = bare.rsplit_once(" in ")?;
    let seconds = time.split_once(' ').map_or(time, |(seconds, _)| seconds).strip_suffix('s')?;
    let (whole, rest) = seconds.split_once('.')?;
    digits(whole)?;
    digits(rest)?;
    let mut counts = Counts::of(FROM);
    if parts == "no tests ran" || parts == "no tests collected" {
        return Some(Ok(counts));
    }
    for part in parts.split(", ") {
        let (number, what) = counted(part)?;
        match what {
            "passed" | "xpassed" => counts.passed += number,
            "failed" | "error" | "errors" | "subtests failed" => counts.failed += number,
            "skipped" | "xfailed" | "subtests skipped" => counts.skipped += number,
            "deselected" if !chosen => {
                counts.skipped += number;
                counts.help = Some("a file of the project deselects tests; let the command line say which to run");
            }
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {}
            "tests collected" | "test collected" => {}
            _ => return Some(Err("its summary counts something that is not known")),
        }
    }
    Some(Ok(counts))
}

/// Of `SKIPPED [1] test_a.py:4: later` the place, of `test_a.py::test_skip SKIPPED (later)` the name.
fn skipped(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("SKIPPED [") {
        return rest.split_once("] ").map(|(_, place)| place);
    }
    let (name, rest) = line.split_once(' ')?;
    let how = rest.trim_start();
    (name.contains("::") && (how.starts_with("SKIPPED") || how.starts_with("XFAIL"))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    const SESSION: &str = "============================= test session starts ==============================
platform linux -- Python 3.11.7, pytest-9.2.0, pluggy-1.7.0
collected 2 items

test_b.py ..                                                             [100%]

";
    const PASSED: &str = "============================== 2 passed in 0.01s ===============================\n";
    const MIXED: &str = "==== 1 failed, 2 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error in 0.02s =====\n";
    const QUIET: &str = "..sxXFE                                                                  [100%]
=========================== short test summary info ============================
SKIPPED [1] test_a.py:4: later
1 failed, 2 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error in 0.01s
";

    fn arguments(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn summaries_are_read_loud_and_quiet() {
        let with = |end: &str| format!("{SESSION}{end}");
        let cases = [
            (with(PASSED), Some(Ok((2, 0, 0)))),
            (with(MIXED), Some(Ok((3, 2, 2)))),
            (
                with("============================ no tests ran in 0.01s =============================\n"),
                Some(Ok((0, 0, 0))),
            ),
            (with("=========== 120 passed, 3 warnings in 75.31s (0:01:15) ===========\n"), Some(Ok((120, 0, 0)))),
            (QUIET.to_owned(), Some(Ok((3, 2, 2)))),
            ("..     [100%]\n2 passed in 0.00s\n".to_owned(), Some(Ok((2, 0, 0)))),
            (
                "\nno tests ran in 0.00s\nERROR: file or directory not found: nofile.py\n".to_owned(),
                Some(Ok((0, 0, 0))),
            ),
            ("test_b.py::test_one\n\n2 tests collected in 0.00s\n".to_owned(), Some(Ok((0, 0, 0)))),
            ("..     [100%]\n".to_owned(), None),
            ("all 5 passed in my view\n5 passed\n5 passed in time\n".to_owned(), None),
        ];
        for (text, expected) in cases {
            assert_eq!(brief(read(&text, &[])), expected, "{text}");
        }
        assert!(matches!(read(QUIET, &[]), Some(Reading::Counts(it)) if it.which == ["test_a.py:4: later"]));
    }

    #[test]
    fn what_a_file_deselects_is_skipped_and_what_the_command_line_deselects_is_not() {
        let cases = [
            ("python3 -m pytest -q -k one", (1, 0, 0)),
            ("python3 -m pytest -q -m fast", (1, 0, 0)),
            ("/usr/bin/pytest --deselect=test_b.py::test_two", (1, 0, 0)),
            ("python3 -m pytest -q", (1, 0, 1)),
            ("make test", (1, 0, 1)),
        ];
        for (line, expected) in cases {
            let text = ".     [100%]\n1 passed, 1 deselected in 0.00s\n";
            assert_eq!(brief(read(text, &arguments(line))), Some(Ok(expected)), "{line}");
        }
    }

    #[test]
    fn a_second_summary_of_one_run_is_not_believed() {
        let fake = "5 passed in 0.1s\n";
        for text in [
            format!("{fake}..\n2 passed in 0.01s\n"),
            format!("{SESSION}{PASSED}{fake}"),
            format!("{SESSION}{fake}{PASSED}"),
            format!("{SESSION}{SESSION}{PASSED}"),
            "2 passed, 1 lucky in 0.01s\n".to_owned(),
        ] {
            assert!(matches!(brief(read(&text, &[])), Some(Err(_))), "{text}");
        }
        let two_runs = format!("{SESSION}{PASSED}{SESSION}{MIXED}");
        assert_eq!(brief(read(&two_runs, &[])), Some(Ok((5, 2, 2))));
    }
}
