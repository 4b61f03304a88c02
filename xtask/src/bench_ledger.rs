//! `cargo xtask bench-ledger`: how fast the ledger is beside what bounds it, and what a long one costs.

use crate::house::{cargo, run};
use crate::{Outcome, Verb};

pub(crate) const VERB: Verb = Verb {
    name: "bench-ledger",
    arguments: "[one|many|hook|fold|postgres] | [--events N]",
    summary: "measure the ledger, or one of so many events (5000000 take some 20 GB for a while)",
    run: verb,
};

fn verb(arguments: &[String]) -> Outcome {
    let mut bench = cargo(&["bench", "--package", "countersign-ledger", "--bench", "ledger", "--"]);
    run(bench.args(measures(arguments)?))
}

/// What the benchmark is asked for.
fn measures(arguments: &[String]) -> Result<Vec<&str>, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--events", events] if events.parse::<u64>().is_ok_and(|it| it >= EVENTS_MIN) => Ok(vec!["large", events]),
        ["--events", ..] => Err(format!("--events needs one number, {EVENTS_MIN} or more")),
        some if some.iter().all(|word| ["one", "many", "hook", "fold", "postgres"].contains(word)) => Ok(words),
        _ => Err(format!("this takes {}", VERB.arguments)),
    }
}

/// A shorter log says nothing of a long one.
const EVENTS_MIN: u64 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_measured_is_asked_for() {
        let asked = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            measures(&words).map(|it| it.join(" ")).ok()
        };
        let table = [
            ("", Some("")),
            ("one fold", Some("one fold")),
            ("hook", Some("hook")),
            ("--events 500000", Some("large 500000")),
            ("--events", None),
            ("--events few", None),
            ("--events 5", None),
            ("two", None),
        ];
        for (line, expected) in table {
            assert_eq!(asked(line).as_deref(), expected, "{line}");
        }
    }
}
