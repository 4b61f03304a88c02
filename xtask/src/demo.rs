//! `cargo xtask demo`: the product's main job, seen at work. Builds the binary and has it show agents being caught.

use crate::house::{build_binary, run};
use crate::{Outcome, Verb};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "demo",
    arguments: "[--dir DIR]",
    summary: "build the binary and see agents being caught; with --dir, everything is left to look at",
    run: verb,
};

fn verb(arguments: &[String]) -> Outcome {
    let binary = build_binary("release")?;
    run(Command::new(binary).arg("demo").args(arguments))
}
