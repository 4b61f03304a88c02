//! `go test -json`: a line of JSON for each event, such as
//! `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0}`.
//!
//! Every test that began must have ended, once and in one way. A package that fails without a failed test did not build
//! or broke down.

use super::{Counts, Reading, contradicts};
use serde_json::Value;
use std::collections::BTreeMap;

const FROM: &str = "go test -json";

pub(super) fn read(text: &str) -> Option<Reading> {
    let mut tests: BTreeMap<(String, String), Option<&'static str>> = BTreeMap::new();
    let mut broken = 0;
    let mut seen = false;
    for line in text.lines().filter(|line| line.starts_with('{') && line.contains("\"Action\"")) {
        let Ok(Value::Object(event)) = serde_json::from_str(line) else { continue };
        let part = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(action), Some(package)) = (part("Action"), part("Package")) else { continue };
        seen = true;
        let ending = match action.as_str() {
            "pass" => Some("pass"),
            "fail" => Some("fail"),
            "skip" => Some("skip"),
            "run" => None,
            _ => continue,
        };
        let Some(test) = part("Test") else {
            broken += u64::from(ending == Some("fail"));
            continue;
        };
        let known = tests.entry((package, test)).or_insert(None);
        match (*known, ending) {
            (Some(one), Some(other)) if one != other => {
                return Some(contradicts(FROM, "a test ended in two ways"));
            }
            (_, Some(ending)) => *known = Some(ending),
            (_, None) => {}
        }
    }
    if !seen {
        return None;
    }
    let mut counts = Counts::of(FROM);
    for ((_, test), ending) in &tests {
        match ending {
            Some("pass") => counts.passed += 1,
            Some("skip") => counts.skip(test),
            Some(_) => counts.failed += 1,
            None => return Some(contradicts(FROM, "a test began that did not end")),
        }
    }
    counts.failed = counts.failed.max(broken);
    Some(Reading::Counts(counts))
}

#[cfg(test)]
mod tests {
    use super::super::tests::brief;
    use super::*;

    fn event(action: &str, test: &str) -> String {
        let test = if test.is_empty() { String::new() } else { format!(",\"Test\":\"{test}\"") };
        format!(
            "{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"{action}\",\"Package\":\"example.org/p\"{test},\"Elapsed\":0}}\n"
        )
    }

    fn events(list: &[(&str, &str)]) -> String {
        list.iter().map(|(action, test)| event(action, test)).collect()
    }

    #[test]
    fn tests_are_counted_by_how_they_ended() {
        type Case<'c> = (&'c [(&'c str, &'c str)], Option<(u64, u64, u64)>);
        let cases: &[Case<'_>] = &[
            (&[("start", ""), ("run", "TestA"), ("output", "TestA"), ("pass", "TestA"), ("pass", "")], Some((1, 0, 0))),
            (
                &[("run", "TestA"), ("run", "TestA/x"), ("skip", "TestA/x"), ("pass", "TestA"), ("pass", "")],
                Some((1, 0, 1)),
            ),
            (&[("run", "TestA"), ("fail", "TestA"), ("fail", "")], Some((0, 1, 0))),
            (&[("start", ""), ("fail", "")], Some((0, 1, 0))),
            // A package without tests.
            (&[("start", ""), ("skip", "")], Some((0, 0, 0))),
            (&[("run", "TestA"), ("pass", "TestA"), ("run", "TestA"), ("pass", "TestA")], Some((1, 0, 0))),
        ];
        for (list, expected) in cases {
            assert_eq!(brief(read(&events(list))), expected.map(Ok), "{list:?}");
        }
        assert_eq!(brief(read("{\"level\":\"info\",\"Action\":\"pass\"}\n")), None);
    }

    #[test]
    fn a_test_that_ends_twice_or_never_is_not_believed() {
        for list in [&[("run", "A"), ("fail", "A"), ("pass", "A")][..], &[("run", "A"), ("run", "B"), ("pass", "B")]] {
            assert!(matches!(brief(read(&events(list))), Some(Err(_))), "{list:?}");
        }
    }
}
