//! What does not fit together in a claim: what the worker says, and what it did by its own figures. It proves nothing, and is
//! told to those who look.
//!
//! It follows from what is recorded, so that whoever goes on after a crash finds the same.

use super::Run;
use super::attempt::Attempt;
use countersign_contract::{Form, SIZE_MAX, parse, show};
use countersign_domain::work::effect::{EffectKind, effect_key};
use countersign_domain::work::scope;
use serde_json::Value;

/// Words that nobody uses who has not run something.
const RAN: &[&str] = &[
    "ran", "reran", "rerun", "executed", "pytest", "unittest", "nextest", "jest", "vitest", "mocha", "tox", "ctest",
    "rspec", "phpunit",
];
/// What is run to see whether something holds.
const TESTS: &[&str] = &["test", "tests", "testsuite", "suite", "specs", "build", "lint", "linter"];
/// What is said of it afterwards.
const ENDED: &[&str] =
    &["pass", "passes", "passed", "passing", "green", "succeeds", "succeeded", "ok", "failed", "failures"];

/// What does not fit together, given what the worker used, what differs, and what it says.
pub(super) fn flags(
    attempt: &Attempt<'_>,
    usage: &Value,
    (changed, declared): (&[String], &[String]),
    result: &str,
) -> Vec<String> {
    let mut flags = Vec::new();
    let unmade = unmade(changed, declared);
    if !unmade.is_empty() {
        flags.push(format!("declared, and not changed: {}", unmade.join(", ")));
    }
    let none = |name: &str| usage[name].as_u64() == Some(0);
    if none("tool_uses") {
        flags.push("the agent claims to be done, and by its own figures used no tool".to_owned());
    }
    if none("file_changes") && none("commands") && !changed.is_empty() {
        flags.push("files differ, and by the agent's own figures it neither changed one nor ran a command".to_owned());
    }
    if none("commands") {
        let texts = attempt.planned.acceptance.iter().map(|it| it.text.inspect(str::to_owned));
        let texts: Vec<String> = texts.collect();
        let said = said_to_be_run(&texts, result);
        flags.extend(said.map(|n| {
            format!("AC-{n} is claimed by something that was run, and by the agent's own figures it ran no command")
        }));
    }
    flags
}

/// What was said to be changed and is as it was. A folder is changed if anything inside of it is.
fn unmade(changed: &[String], declared: &[String]) -> Vec<String> {
    let is_made = |place: &str| changed.iter().any(|path| scope::contains(place, path));
    let is_unmade = |text: &&String| scope::normal(text).is_ok_and(|place| !is_made(&place));
    declared.iter().filter(is_unmade).map(|text| show(text)).collect()
}

/// What the worker used under a lease, as it was recorded when it ended. Nothing, if that is not known.
pub(super) fn usage_under(run: &Run<'_>, task: &str, lease: u64) -> Value {
    let key = effect_key(run.setup.run, task, lease, EffectKind::Agent.as_str(), None);
    let ended = run.setup.engine.entity(&key).ok().flatten();
    ended.and_then(|found| run.desk.facts(found.seq)).map_or(Value::Null, |facts| facts["usage"].clone())
}

/// The criteria that a result says were shown by running something, by their numbers.
fn said_to_be_run<'a>(texts: &'a [String], result: &str) -> impl Iterator<Item = usize> + 'a {
    let result = parse(result, Form::of_text(result), SIZE_MAX).map(|document| document.root().to_value());
    let answers = result.ok().and_then(|result| result["acceptance_check"].as_array().cloned()).unwrap_or_default();
    let is_run = move |text: &str| {
        let mut own = answers.iter().filter(|answer| answer["criterion"].as_str() == Some(text));
        own.any(|answer| answer["evidence"].as_str().is_some_and(claims_a_run))
    };
    texts.iter().enumerate().filter(move |(_, text)| is_run(text)).map(|(n, _)| n + 1)
}

/// Whether somebody says that they ran something.
fn claims_a_run(evidence: &str) -> bool {
    let evidence = evidence.to_lowercase();
    let words = || evidence.split(|letter: char| !letter.is_alphanumeric());
    let has = |some: &[&str]| words().any(|word| some.contains(&word));
    has(RAN) || evidence.contains("exit code") || evidence.contains("exited with") || (has(TESTS) && has(ENDED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_says_that_they_ran_something() {
        for (evidence, expected) in [
            ("ran pytest, 12 passed", true),
            ("I executed it twice", true),
            ("All tests are green.", true),
            ("cargo test: ok", true),
            ("make check ended with exit code 0", true),
            ("src/round.py:41 compares 2.5 with 2", false),
            ("the function is there, and its name is as asked", false),
            ("a test for it was added in tests/round.py", false),
            ("the branch of the pass is shorter", false),
            ("", false),
        ] {
            assert_eq!(claims_a_run(evidence), expected, "{evidence}");
        }
    }

    #[test]
    fn criteria_are_told_apart_by_their_words_in_any_form() {
        let json = r#"{"acceptance_check": [
            {"criterion": "b", "status": "pass", "evidence": "ran it"}, {"criterion": "a", "status": "pass", "evidence": "read it"},
            {"criterion": "c", "status": "pass", "evidence": "tests pass"}]}"#;
        let markdown = "---\nacceptance_check:\n  - {criterion: b, evidence: ran it}\n  - {criterion: c, evidence: tests pass}\n---\n";
        for result in [json, markdown] {
            assert_eq!(
                said_to_be_run(&["a", "b", "c", "d"].map(str::to_owned), result).collect::<Vec<_>>(),
                [2, 3],
                "{result}"
            );
        }
        assert_eq!(said_to_be_run(&["a".to_owned()], "no result at all").count(), 0);
    }
}
