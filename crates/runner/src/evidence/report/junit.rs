//! JUnit XML: a `testcase` for each test, with `failure`, `error` or `skipped` in it.
//!
//! The text is scanned, not parsed: tags are found, comments, CDATA and other text are passed over, and no entity is
//! ever resolved. The outermost element says how many tests there are, and must be right.

use super::{Counts, Reading, contradicts, digits};
use memchr::{memchr, memmem};

const FROM: &str = "JUnit XML";

/// What is read in an output or a file; nothing, where there is no such element.
pub(in crate::evidence) fn read(text: &str) -> Option<Reading> {
    let start = memmem::find(text.as_bytes(), b"<testsuite")?;
    if text[..start].contains("<!DOCTYPE") {
        return Some(contradicts(FROM, "it has a document type, which reports have not"));
    }
    let mut scan = Scan::default();
    let mut rest = &text[start..];
    while let Some(tag) = next_tag(&mut rest) {
        if let Err(why) = scan.take(&tag) {
            return Some(contradicts(FROM, why));
        }
    }
    match scan.case {
        None if scan.depth == 0 => Some(Reading::Counts(Counts { from: FROM, ..scan.counts })),
        _ => Some(contradicts(FROM, "it breaks off")),
    }
}

/// Several reports as one.
pub(in crate::evidence) fn join(readings: impl IntoIterator<Item = Reading>) -> Option<Reading> {
    let mut all = None;
    for reading in readings {
        match reading {
            Reading::Counts(counts) => all.get_or_insert_with(|| Counts::of(FROM)).add(&counts),
            contradiction => return Some(contradiction),
        }
    }
    all.map(Reading::Counts)
}

struct Tag<'t> {
    name: &'t str,
    attributes: &'t str,
    closes: bool,
    is_empty: bool,
}

/// The next tag, after which `rest` goes on. None, where there is none that ends.
fn next_tag<'t>(rest: &mut &'t str) -> Option<Tag<'t>> {
    loop {
        let from = memchr(b'<', rest.as_bytes())? + 1;
        *rest = &rest[from..];
        if let Some(after) = passed_over(rest) {
            *rest = after;
            continue;
        }
        if !rest.starts_with(|letter: char| letter == '/' || letter.is_ascii_alphabetic()) {
            continue;
        }
        let closes = rest.starts_with('/');
        let name_end =
            rest[1..].find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').map(|at| at + 1)?;
        let name = &rest[usize::from(closes)..name_end];
        let known = ["testsuites", "testsuite", "testcase", "failure", "error", "skipped"].contains(&name);
        if !known {
            continue;
        }
        let (attributes, after) = attributes(&rest[name_end..])?;
        *rest = after;
        let is_empty = attributes.ends_with('/');
        return Some(Tag { name, attributes, closes, is_empty });
    }
}

/// What follows a comment, CDATA or an instruction; each may hold what looks like tags. One that does not end takes
/// all.
fn passed_over(text: &str) -> Option<&str> {
    let kinds = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
    let (inside, closing) = kinds.iter().find_map(|(opening, closing)| Some((text.strip_prefix(opening)?, closing)))?;
    let end = memmem::find(inside.as_bytes(), closing.as_bytes()).map(|at| at + closing.len());
    Some(&inside[end.unwrap_or(inside.len())..])
}

/// Up to the `>` that ends a tag, which may also stand in quotes.
fn attributes(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// The value of an attribute, as it is written.
fn attribute<'t>(attributes: &'t str, wanted: &str) -> Option<&'t str> {
    let mut rest = attributes;
    loop {
        let (name, after) = rest.split_once('=')?;
        let quote = after.trim_start().chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
        let (value, after) = after.trim_start()[1..].split_once(quote)?;
        if name.trim() == wanted {
            return Some(value);
        }
        rest = after;
    }
}

/// What the outermost element says.
#[derive(Default)]
struct Declared {
    tests: Option<u64>,
    failed: u64,
    skipped: u64,
    /// What had been counted before it.
    before: (u64, u64, u64),
}

struct Case<'t> {
    name: &'t str,
    failed: bool,
    skipped: bool,
}

#[derive(Default)]
struct Scan<'t> {
    counts: Counts,
    declared: Declared,
    depth: usize,
    case: Option<Case<'t>>,
}

impl<'t> Scan<'t> {
    fn take(&mut self, tag: &Tag<'t>) -> Result<(), &'static str> {
        match (tag.name, tag.closes) {
            ("testsuites" | "testsuite", false) => self.open(tag),
            ("testsuites" | "testsuite", true) => self.close(),
            ("testcase", false) if self.case.is_some() || self.depth == 0 => Err("a test case stands where none may"),
            ("testcase", false) => {
                let name = attribute(tag.attributes, "name").unwrap_or_default();
                self.case = Some(Case { name, failed: false, skipped: false });
                if tag.is_empty { self.end_case() } else { Ok(()) }
            }
            ("testcase", true) => self.end_case(),
            ("failure" | "error", false) => {
                // Outside of a test it is the suite that failed.
                match &mut self.case {
                    Some(case) => case.failed = true,
                    None => self.counts.failed += 1,
                }
                Ok(())
            }
            ("skipped", false) => {
                self.case.iter_mut().for_each(|case| case.skipped = true);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, tag: &Tag<'t>) -> Result<(), &'static str> {
        if self.depth == 0 {
            let number = |name: &str| attribute(tag.attributes, name).and_then(digits);
            let sum = |one: &str, other: &str| number(one).unwrap_or(0).saturating_add(number(other).unwrap_or(0));
            self.declared = Declared {
                tests: number("tests"),
                failed: sum("failures", "errors"),
                skipped: sum("skipped", "disabled"),
                before: self.totals(),
            };
        }
        self.depth += 1;
        if tag.is_empty { self.close() } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), &'static str> {
        self.depth = self.depth.checked_sub(1).ok_or("an element ends that never began")?;
        if self.depth > 0 {
            return Ok(());
        }
        let (tests, failed, skipped) = self.totals();
        let (before, declared) = (self.declared.before, &self.declared);
        if declared.tests.is_some_and(|declared| declared != tests - before.0) {
            return Err("it has not as many tests as it says");
        }
        if (declared.failed > 0 && failed == before.1) || (declared.skipped > 0 && skipped == before.2) {
            return Err("it says that tests failed or were skipped, and names none");
        }
        Ok(())
    }

    fn end_case(&mut self) -> Result<(), &'static str> {
        let case = self.case.take().ok_or("a test case ends that never began")?;
        match case {
            Case { failed: true, .. } => self.counts.failed += 1,
            Case { skipped: true, name, .. } => self.counts.skip(name),
            Case { .. } => self.counts.passed += 1,
        }
        Ok(())
    }

    /// Tests, and those of them that failed and were skipped.
    fn totals(&self) -> (u64, u64, u64) {
        let Counts { passed, failed, skipped, .. } = self.counts;
        (passed + failed + skipped, failed, skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    const PYTEST: &str = r#"<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="1" skipped="2" tests="7" time="0.036" hostname="vm"><testcase classname="test_a" name="test_ok" time="0.000" /><testcase classname="test_a" name="test_ok2" time="0.000" /><testcase classname="test_a" name="test_skip" time="0.000"><skipped type="pytest.skip" message="later">/tmp/test_a.py:4: later</skipped></testcase><testcase classname="test_a" name="test_xf" time="0.000"><skipped type="pytest.xfail" message="" /></testcase><testcase classname="test_a" name="test_xp" time="0.000" /><testcase classname="test_a" name="test_bad" time="0.000"><failure message="assert 1 == 2">&gt;   def test_bad(): assert 1==2
test_a.py:10: AssertionError</failure></testcase><testcase classname="test_a" name="test_err" time="0.000"><error message="failed on setup with &quot;RuntimeError: x&quot;">@pytest.fixture
test_a.py:12: RuntimeError</error></testcase></testsuite></testsuites>"#;
    const VITEST: &str = r#"npm warn a < b
<?xml version="1.0" encoding="UTF-8" ?>
<testsuites name="vitest tests" tests="1" failures="0" errors="0" time="0.004070274">
    <testsuite name="vt/b.test.js" tests="1" failures="0" errors="0" skipped="0" time="0.004070274">
        <testcase classname="vt/b.test.js" name="a &gt; b>c" time="0.002482021">
            <system-out>
<![CDATA[<testcase name="fake"/>]]> <!-- <skipped/> -->
            </system-out>
        </testcase>
    </testsuite>
</testsuites>
"#;

    #[test]
    fn test_cases_are_counted_and_text_is_passed_over() {
        let cases = [
            (PYTEST, Some(Ok((3, 2, 2)))),
            (VITEST, Some(Ok((1, 0, 0)))),
            ("<testsuite tests=\"0\"/>", Some(Ok((0, 0, 0)))),
            ("<testsuite><testcase name='a'/></testsuite><testsuite><testcase/></testsuite>", Some(Ok((2, 0, 0)))),
            ("<testsuite><!-- -->testcase <testcase/></testsuite>", Some(Ok((1, 0, 0)))),
            ("<coverage/>", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(brief(read(text)), expected, "{text}");
        }
        assert!(matches!(read(PYTEST), Some(Reading::Counts(it)) if it.which == ["test_skip", "test_xf"]));
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        for text in [
            "<testsuite tests=\"2\"><testcase/></testsuite>",
            "<testsuite tests=\"1\" failures=\"1\"><testcase/></testsuite>",
            "<testsuite tests=\"1\" skipped=\"1\"><testcase/></testsuite>",
            "<testsuite><testcase>",
            "<testsuite><testcase/>",
            "<testsuite><testcase><testcase/></testcase></testsuite>",
            "<testsuite/></testsuite>",
            "<testsuite/><testcase/>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite><testcase name=\"&b;\"/></testsuite>",
        ] {
            assert!(matches!(brief(read(text)), Some(Err(_))), "{text}");
        }
    }
}
