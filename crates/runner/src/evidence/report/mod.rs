//! How many tests ran, read from what they report.
//!
//! One file for each reporter. Each looks at the whole output and says nothing, its counts, or that what it reads
//! contradicts itself. A summary counts only in the form and the company in which its program prints it; the word
//! `passed` alone is nothing.
//!
//! Several may find something: the output of one program inside of another's, a run of several programs, or a worker
//! who prints what a reporter would. All of them must then be content. The counts that are shown are those of the first
//! in this order, from the most specific form to the least: JUnit XML, `go test -json`, TAP, nextest, cargo test,
//! vitest, jest, pytest, `go test -v`.
//!
//! **Invariant:** reading takes time and memory in proportion to the output, whatever it holds.

mod cargo;
mod go;
mod go_json;
mod jest;
pub(super) mod junit;
mod nextest;
mod pytest;
mod tap;
mod vitest;

/// The reports that are known, for people.
pub(super) const KNOWN: &str =
    "those of cargo test, nextest, pytest, go test with -v or -json, vitest, jest, TAP and JUnit XML";

/// How many names of tests are kept.
const NAMES_MAX: usize = 10;

/// How many tests passed, failed and were skipped, and who says so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    /// Ignored, left for later and expected to fail are skipped, too: none of them shows that something holds.
    pub skipped: u64,
    /// The reporter.
    pub from: &'static str,
    /// Names of skipped tests, as far as the reporter gives them; at most ten.
    pub which: Vec<String>,
    /// What to do about skipped tests with this reporter, where that is not plain.
    pub help: Option<&'static str>,
}

impl Counts {
    fn of(from: &'static str) -> Self {
        Self { from, ..Self::default() }
    }

    /// Whether tests ran and all of them passed.
    pub fn is_clean(&self) -> bool {
        self.passed > 0 && self.failed == 0 && self.skipped == 0
    }

    fn skip(&mut self, name: &str) {
        self.skipped = self.skipped.saturating_add(1);
        self.name(name);
    }

    fn name(&mut self, name: &str) {
        if self.which.len() < NAMES_MAX && !name.is_empty() {
            self.which.push(name.to_owned());
        }
    }

    fn add(&mut self, other: &Counts) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        other.which.iter().for_each(|name| self.name(name));
        self.help = self.help.or(other.help);
    }
}

/// What a reporter reads where it finds something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reading {
    Counts(Counts),
    Contradicts { from: &'static str, why: String },
}

type Reporter = fn(&str, &[String]) -> Option<Reading>;

/// From the most specific form to the least.
const REPORTERS: &[Reporter] = &[
    |text, _| junit::read(text),
    |text, _| go_json::read(text),
    |text, _| tap::read(text),
    |text, _| nextest::read(text),
    |text, _| cargo::read(text),
    |text, _| vitest::read(text),
    |text, _| jest::read(text),
    pytest::read,
    |text, _| go::read(text),
];

/// What all reporters read in an output.
pub(super) fn read(text: &str, arguments: &[String]) -> Vec<Reading> {
    REPORTERS.iter().filter_map(|read| read(text, arguments)).collect()
}

/// The counts that decide: those that are not clean, or else the first.
pub(super) fn decisive(readings: &[Reading]) -> Option<&Counts> {
    let counts = || {
        readings.iter().filter_map(|reading| match reading {
            Reading::Counts(counts) => Some(counts),
            Reading::Contradicts { .. } => None,
        })
    };
    counts().find(|it| !it.is_clean()).or_else(|| counts().next())
}

fn contradicts(from: &'static str, why: impl Into<String>) -> Reading {
    Reading::Contradicts { from, why: why.into() }
}

/// One reading from the summaries of some runs, of which `starts` were announced. Runs that were announced one by one
/// are added up. Of one run there is one summary: a second one that says something else is not believed, nor is the
/// first.
fn settle(from: &'static str, summaries: &[Counts], starts: usize) -> Option<Reading> {
    let (first, rest) = summaries.split_first()?;
    if starts > summaries.len() {
        return Some(contradicts(from, "a run began that has no summary"));
    }
    if starts == summaries.len() {
        let mut all = Counts::of(from);
        summaries.iter().for_each(|summary| all.add(summary));
        return Some(Reading::Counts(all));
    }
    if rest.iter().any(|other| other != first) {
        return Some(contradicts(from, "there are several summaries of one run, and they differ"));
    }
    Some(Reading::Counts(first.clone()))
}

/// A number and what it counts: `3 passed`.
fn counted(part: &str) -> Option<(u64, &str)> {
    let (number, word) = part.trim().split_once(' ')?;
    Some((digits(number)?, word.trim()))
}

/// A number that is written with digits alone.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.len() <= 12 && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts without names, or why they are not believed.
    pub(super) fn brief(reading: Option<Reading>) -> Option<Result<(u64, u64, u64), String>> {
        reading.map(|reading| match reading {
            Reading::Counts(it) => Ok((it.passed, it.failed, it.skipped)),
            Reading::Contradicts { why, .. } => Err(why),
        })
    }

    /// Pieces of what reporters look for, in any order.
    fn scraps() -> impl Strategy<Value = String> {
        let scraps: Vec<&'static str> = vec![
            "running 2 tests\n",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
            "test a ... ignored\n",
            "Starting 2 tests across 1 binary\n",
            "Summary [ 0.1s] 2 tests run: 2 passed, 0 skipped\n",
            "2 passed in 0.1s\n",
            "=== test session starts ===\n",
            "TAP version 13\n1..2\n",
            "ok 1 - a # SKIP\n",
            "  ---\n",
            "<testsuite tests=\"1\">",
            "<testcase name='a>'",
            "/>",
            "<![CDATA[",
            "]]>",
            "<!--",
            "</testsuite>",
            "{\"Action\":\"pass\",\"Test\":\"T\"}\n",
            "=== RUN   T\n--- PASS: T (0.1s)\n",
            "Test Files  1 passed (1)\nTests  1 passed (1)\nStart at 1\n",
            "Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\n",
            "1..999999999999\n",
            "\n",
            " ",
            "é<",
        ];
        prop::collection::vec(prop::sample::select(scraps), 0..30).prop_map(|scraps| scraps.concat())
    }

    proptest! {
        #[test]
        fn nothing_panics(text in scraps(), noise in ".{0,60}") {
            read(&text, &[]);
            read(&format!("{noise}{text}{noise}"), &["pytest".to_owned()]);
        }
    }

    #[test]
    fn hostile_output_is_read_in_linear_time() {
        let scraps = [
            "<testsuite ",
            "<testcase name=\"",
            "<![CDATA[",
            "<!--",
            "1..1\n",
            "ok 1 # ",
            "# ",
            "running 1 tests\n",
            "=",
            "1 passed, ",
            "{\"Action\":",
            "{",
            "=== RUN   T\n",
            "Test Files  1 passed (1)\n",
            "Test Suites: 1\n",
            "    ok 1\n",
            "<",
            "\"",
            "<testcase",
        ];
        // A quadratic reader would take hours over this.
        for scrap in scraps {
            read(&scrap.repeat((4 << 20) / scrap.len()), &[]);
        }
    }

    #[test]
    fn the_counts_that_are_not_clean_decide() {
        let one = |passed, skipped, from| Reading::Counts(Counts { passed, skipped, from, ..Counts::default() });
        let from = |readings: &[Reading]| decisive(readings).map(|counts| counts.from);
        assert_eq!(from(&[one(3, 0, "a"), one(2, 0, "b")]), Some("a"));
        assert_eq!(from(&[one(3, 0, "a"), one(2, 1, "b")]), Some("b"));
        assert_eq!(from(&[one(3, 0, "a"), one(0, 0, "b")]), Some("b"));
        assert_eq!(from(&[]), None);
    }
}
