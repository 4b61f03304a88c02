//! Steps that are run one after the other, each under a heading, with a summary of all at the end.

use crate::Outcome;
use std::time::{Duration, Instant};

/// One step: its name, and what is done.
pub(crate) struct Step<'s> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnOnce() -> Outcome + 's>,
}

impl<'s> Step<'s> {
    pub(crate) fn new(name: &'static str, run: impl FnOnce() -> Outcome + 's) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// Runs every step, also after one that failed: a person who must correct two things wants to hear of both.
pub(crate) fn run(steps: Vec<Step<'_>>) -> Outcome {
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for step in steps {
        println!("\n── {} ──", step.name);
        let start = Instant::now();
        let outcome = (step.run)();
        let line = summary(step.name, start.elapsed(), &outcome);
        println!("{line}");
        lines.push(line);
        if outcome.is_err() {
            failed.push(step.name);
        }
    }
    println!("\n── summary ──\n{}", lines.join("\n"));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn summary(name: &str, took: Duration, outcome: &Outcome) -> String {
    let took = took.as_secs_f64();
    match outcome {
        Ok(()) => format!("ok      {name:<10} {took:>6.1} s"),
        Err(message) => format!("FAILED  {name:<10} {took:>6.1} s  {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_fails_all_and_does_not_stop_the_next() {
        let mut ran = false;
        let second = || {
            ran = true;
            Ok(())
        };
        let steps = vec![Step::new("one", || Err("no".to_owned())), Step::new("two", second)];
        assert_eq!(run(steps), Err("failed: one".to_owned()));
        assert!(ran);
    }
}
