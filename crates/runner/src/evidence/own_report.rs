//! A report that we ask a test program for ourselves, beside what it prints.
//!
//! Code under test runs inside of the test program, and can print a summary as well as that and end both at once, by intent or
//! by a stray `exit`. pytest writes a report when it has come to its end, so one that was cut short writes none. It is asked
//! for one in a place of our own, outside of the checkout.
//!
//! **Absent:** code under test that looks for that place and writes the report itself is believed. What runs in one process
//! cannot be told apart from outside of it.

use super::plain;
use super::report::{Reading, junit};
use std::io::Read;
use std::path::{Path, PathBuf};

/// By which pytest is told more options.
const OPTIONS: &str = "PYTEST_ADDOPTS";
/// What pytest is called, as a program.
const NAMES: &[&str] = &["pytest", "py.test", "pytest3", "pytest-3"];
/// Options by which it writes its report elsewhere, or none.
const OTHERWISE: &[&str] = &["--junitxml", "--junit-xml", "no:junitxml"];
/// How large a report may be.
const SIZE_MAX: u64 = 64 << 20;

/// A place for a report. It goes when this goes.
pub(super) struct OwnReport {
    folder: tempfile::TempDir,
}

impl OwnReport {
    /// A place for the report of these arguments. None, if they are not known to write one.
    ///
    /// # Errors
    /// The place cannot be made.
    pub fn of(arguments: &[String]) -> Result<Option<Self>, String> {
        if !is_pytest(arguments) || arguments.iter().any(|it| OTHERWISE.iter().any(|other| it.contains(other))) {
            return Ok(None);
        }
        let folder = tempfile::Builder::new().prefix("countersign-report-").tempdir();
        let folder = folder.map_err(|error| format!("a place for the report of the tests cannot be made: {error}"))?;
        Ok(Some(Self { folder }))
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("report.xml")
    }

    /// The variables with which a program writes it.
    pub fn asked(&self, environment: &[(String, String)]) -> Vec<(String, String)> {
        let own = format!("--junitxml='{}'", self.path().display());
        let before = environment.iter().rfind(|(name, _)| name == OPTIONS).map(|(_, value)| value.as_str());
        let value = before.map_or_else(|| own.clone(), |before| format!("{before} {own}"));
        let others = environment.iter().filter(|(name, _)| name != OPTIONS).cloned();
        others.chain([(OPTIONS.to_owned(), value)]).collect()
    }

    /// What it says. None, if it was not written.
    pub fn read(&self) -> Option<Reading> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.path()).ok()?.take(SIZE_MAX).read_to_end(&mut bytes).ok()?;
        junit::read(&plain::text(&bytes))
    }
}

/// Whether a program is pytest itself, and not something that runs it somewhere else.
fn is_pytest(arguments: &[String]) -> bool {
    let Some((program, rest)) = arguments.split_first() else { return false };
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let module = rest.iter().position(|it| it == "-m").and_then(|at| rest.get(at + 1));
    NAMES.contains(&name) || (name.starts_with("python") && module.is_some_and(|it| it == "pytest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pytest_itself_is_asked_for_a_report() {
        for (line, expected) in [
            ("pytest", true),
            ("/usr/bin/pytest -q tests", true),
            ("python3 -m pytest -q tests/test_round.py", true),
            ("python -X dev -m pytest", true),
            ("python3 -m unittest pytest", false),
            ("docker run image pytest", false),
            ("make test", false),
            ("pytest --junitxml=junit.xml", false),
            ("pytest -p no:junitxml", false),
        ] {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(OwnReport::of(&arguments).unwrap().is_some(), expected, "{line}");
        }
    }

    #[test]
    fn options_that_are_there_stay() {
        let report = OwnReport::of(&["pytest".to_owned()]).unwrap().unwrap();
        let asked = report.asked(&[("A".to_owned(), "b".to_owned()), (OPTIONS.to_owned(), "-q".to_owned())]);
        assert_eq!(asked[0], ("A".to_owned(), "b".to_owned()));
        assert_eq!(asked[1], (OPTIONS.to_owned(), format!("-q --junitxml='{}'", report.path().display())));
    }
}
