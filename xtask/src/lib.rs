//! The work around the code, as `cargo xtask VERB`.
//!
//! A verb is one file with a [`Verb`] in it and one line in [`VERBS`]. It is a library so that `tests/tidy.rs` can hold
//! the house to its rules with every other test.

#![expect(clippy::print_stdout, reason = "this is a program for people at a terminal")]

mod bench_ledger;
mod bench_peers;
mod ci;
mod demo;
mod dist;
mod fuzz;
mod house;
mod soak;
mod steps;
mod test;
pub mod tidy;

use std::process::ExitCode;

/// What a verb gives back: nothing, or one sentence that says what went wrong.
pub type Outcome = Result<(), String>;

/// Something that `cargo xtask` can do.
#[derive(Debug)]
pub struct Verb {
    /// How it is called.
    pub name: &'static str,
    /// What may stand after its name, for the usage text.
    pub arguments: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Does it.
    pub run: fn(&[String]) -> Outcome,
}

/// Everything that `cargo xtask` can do, in the order in which it is listed.
pub static VERBS: &[Verb] = &[
    demo::VERB,
    test::VERB,
    ci::VERB,
    tidy::VERB,
    fuzz::VERB,
    soak::VERB,
    bench_ledger::VERB,
    bench_peers::VERB,
    dist::VERB,
];

/// Runs the verb that the arguments name.
pub fn main(arguments: &[String]) -> ExitCode {
    let Some((name, rest)) = arguments.split_first().filter(|(name, _)| !is_help(name)) else {
        println!("{}", usage());
        return ExitCode::SUCCESS;
    };
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        println!("there is no verb `{name}`\n\n{}", usage());
        return ExitCode::from(2);
    };
    if rest.iter().any(|argument| is_help(argument)) {
        println!("cargo xtask {} {}\n\n{}", verb.name, verb.arguments, verb.summary);
        return ExitCode::SUCCESS;
    }
    match (verb.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "help" | "--help" | "-h")
}

fn usage() -> String {
    let mut out = String::from("usage: cargo xtask VERB\n");
    for verb in VERBS {
        let call = format!("{} {}", verb.name, verb.arguments);
        out.push_str(&format!("\n  {call:<26} {}", verb.summary));
    }
    out
}

/// Refuses arguments that a verb does not know.
fn no_arguments(arguments: &[String]) -> Outcome {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => Err(format!("`{argument}` is not known here; run the verb without arguments")),
    }
}
