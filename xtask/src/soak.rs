//! `cargo xtask soak`: tests of kills, faults, chance, tampering and races, for as long as one has time.
//!
//! Each of these tests has a short form that every run of the tests includes. When `COUNTERSIGN_SOAK` says so, those that
//! live by chance go on for that many minutes, and those that take samples take everything. They run one after the other,
//! and what they counted is added up.
//!
//! Kills and races can be asked for by their number instead, and then only those are run. Each round stands by itself: what
//! was broken off is gone on with by asking for the rest.

use crate::house::cargo;
use crate::test::STRACE;
use crate::{Outcome, Verb};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

pub(crate) const VERB: Verb = Verb {
    name: "soak",
    arguments: "[MINUTES] | [--kills N] [--races N]",
    summary: "kill, break, simulate and race, each test so long or so often",
    run: verb,
};

const MINUTES_DEFAULT: &str = "1";

/// The tests that go on for as long as they are asked to, and the crates they are of.
const TESTS: &[(&str, &str)] = &[
    ("countersign-ledger", "crash"),
    ("countersign-ledger", "injected"),
    ("countersign-ledger", "power"),
    ("countersign-ledger", "simulation"),
    ("countersign-ledger", "linearizability"),
    ("countersign-ledger", "disk"),
    ("countersign-ledger", "beside"),
    ("countersign-ledger", "tamper_export"),
    ("countersign-ledger", "tamper_sqlite"),
    ("countersign-ledger", "processes"),
    ("countersign-ledger", "postgres_faults"),
    ("countersign", "race"),
];

/// The tests whose rounds can be asked for by their number, and by which option.
const COUNTED: &[(&str, &str, &str)] =
    &[("--kills", "countersign-ledger", "crash"), ("--races", "countersign", "race")];

/// What a test's line of a count begins with.
const COUNT: &str = "count: ";

/// A test that is run, and how long or how often.
#[derive(Debug, PartialEq, Eq)]
struct Turn<'a> {
    package: &'static str,
    test: &'static str,
    /// The variable that says so, and what it says.
    measure: (&'static str, &'a str),
}

fn verb(arguments: &[String]) -> Outcome {
    let turns = turns(arguments)?;
    STRACE.provide();
    let mut counts = BTreeMap::new();
    let mut failed = Vec::new();
    for turn in &turns {
        println!("\n── {} ──", turn.test);
        if let Err(error) = soak(turn, &mut counts) {
            println!("{error}");
            failed.push(turn.test);
        }
    }
    println!("\n── counts ──");
    counts.iter().for_each(|(what, count)| println!("{count:>10}  {what}"));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// What is asked for: all tests for some minutes each, or some by their rounds.
fn turns(arguments: &[String]) -> Result<Vec<Turn<'_>>, String> {
    if let [] | [_] = arguments {
        let minutes = arguments.first().map_or(MINUTES_DEFAULT, String::as_str);
        if !minutes.parse::<f64>().is_ok_and(|it| it.is_finite() && it > 0.0) {
            return Err(format!("`{minutes}` is not a number of minutes; this takes {}", VERB.arguments));
        }
        let measure = ("COUNTERSIGN_SOAK", minutes);
        return Ok(TESTS.iter().map(|&(package, test)| Turn { package, test, measure }).collect());
    }
    let turn = |pair: &'_ [String]| match pair {
        [option, rounds] => {
            let known = COUNTED.iter().find(|(name, ..)| name == option);
            let &(_, package, test) =
                known.ok_or_else(|| format!("`{option}` is not known; this takes {}", VERB.arguments))?;
            match rounds.parse::<u64>() {
                Ok(1..) => Ok((package, test)),
                _ => Err(format!("`{rounds}` is not a number of rounds")),
            }
        }
        _ => Err(format!("a number is missing; this takes {}", VERB.arguments)),
    };
    let pairs = arguments.chunks(2).map(|pair| {
        let (package, test) = turn(pair)?;
        Ok(Turn { package, test, measure: ("COUNTERSIGN_ROUNDS", pair[1].as_str()) })
    });
    pairs.collect()
}

/// Runs the tests of one file, shows what they say, and adds up what they counted.
fn soak(turn: &Turn<'_>, counts: &mut BTreeMap<String, u64>) -> Outcome {
    let Turn { package, test, measure: (name, value) } = turn;
    let mut command = cargo(&["test", "--package", package, "--test", test]);
    command.args(["--", "--nocapture", "--test-threads=1"]).env(name, value);
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

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_for_by_number_is_run_so_often_and_nothing_else_is() {
        let asked = words("--kills 1000 --races 500");
        let turn = |package, test, rounds| Turn { package, test, measure: ("COUNTERSIGN_ROUNDS", rounds) };
        let expected = vec![turn("countersign-ledger", "crash", "1000"), turn("countersign", "race", "500")];
        assert_eq!(turns(&asked), Ok(expected));
        let asked = words("0.5");
        let all = turns(&asked).unwrap_or_default();
        assert!(all.len() == TESTS.len() && all.iter().all(|it| it.measure == ("COUNTERSIGN_SOAK", "0.5")));
        for wrong in ["-1", "many", "--kills 0", "--kills x", "--hits 5", "--kills 5 --races", "--kills"] {
            assert!(turns(&words(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_count_is_a_number_and_what_was_counted() {
        assert_eq!(counted("20 kills survived"), Some((20, "kills survived")));
        assert_eq!(counted("many kills"), None);
    }
}
