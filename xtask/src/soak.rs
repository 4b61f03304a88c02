//! `cargo xtask soak`: tests of kills, faults, chance, tampering and races, for as long as one has time.
//!
//! Each of these tests has a short form that every run of the tests includes. When `COUNTERSIGN_SOAK` says so, those that
//! live by chance go on for that many minutes, and those that take samples take everything. They run one after the other,
//! and what they counted is added up.

use crate::house::cargo;
use crate::test::STRACE;
use crate::{Outcome, Verb};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

pub(crate) const VERB: Verb = Verb {
    name: "soak",
    arguments: "[MINUTES]",
    summary: "kill, break, simulate and race, each test so long",
    run: verb,
};

const MINUTES_DEFAULT: &str = "1";

/// The tests that go on for as long as they are asked to, and the crates they are of.
const TESTS: &[(&str, &str)] = &[
    ("countersign-ledger", "crash"),
    ("countersign-ledger", "injected"),
    ("countersign-ledger", "simulation"),
    ("countersign-ledger", "linearizability"),
    ("countersign-ledger", "disk"),
    ("countersign-ledger", "beside"),
    ("countersign-ledger", "tamper_export"),
    ("countersign-ledger", "tamper_sqlite"),
    ("countersign-ledger", "processes"),
    ("countersign", "race"),
];

/// What a test's line of a count begins with.
const COUNT: &str = "count: ";

fn verb(arguments: &[String]) -> Outcome {
    let minutes = match arguments {
        [] => MINUTES_DEFAULT,
        [minutes] => minutes.as_str(),
        _ => return Err(format!("this takes at most one argument: {}", VERB.arguments)),
    };
    if !minutes.parse::<f64>().is_ok_and(|it| it.is_finite() && it > 0.0) {
        return Err(format!("`{minutes}` is not a number of minutes"));
    }
    STRACE.provide();
    let mut counts = BTreeMap::new();
    let mut failed = Vec::new();
    for (package, test) in TESTS {
        println!("\n── {test} ──");
        if let Err(error) = soak(package, test, minutes, &mut counts) {
            println!("{error}");
            failed.push(*test);
        }
    }
    println!("\n── counts ──");
    counts.iter().for_each(|(what, count)| println!("{count:>10}  {what}"));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Runs the tests of one file, shows what they say, and adds up what they counted.
fn soak(package: &str, test: &str, minutes: &str, counts: &mut BTreeMap<String, u64>) -> Outcome {
    let mut command = cargo(&["test", "--package", package, "--test", test]);
    command.args(["--", "--nocapture", "--test-threads=1"]).env("COUNTERSIGN_SOAK", minutes);
    let spawned = command.stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| format!("cargo cannot be run: {error}"))?;
    if let Some(said) = child.stderr.take() {
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            match line.trim_start().strip_prefix(COUNT).and_then(counted) {
                Some((count, what)) => *counts.entry(what.to_owned()).or_default() += count,
                None => println!("{line}"),
            }
        }
    }
    let status = child.wait().map_err(|error| format!("cargo does not end: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("the tests in `{test}` failed ({status})")) }
}

fn counted(line: &str) -> Option<(u64, &str)> {
    let (count, what) = line.split_once(' ')?;
    Some((count.parse().ok()?, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_and_what_was_counted() {
        assert_eq!(counted("20 kills survived"), Some((20, "kills survived")));
        assert_eq!(counted("many kills"), None);
    }
}
