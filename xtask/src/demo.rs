//! `cargo xtask demo`: the product's main job on the shipped examples. The good ones must be allowed, each of the bad ones
//! refused with the code that its name begins with.

use crate::house::{build_binary, root};
use crate::{Outcome, Verb, no_arguments};
use std::path::Path;
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "demo",
    arguments: "",
    summary: "build the checker and check the shipped examples, good and bad",
    run: verb,
};

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let binary = build_binary("release")?;
    println!("\n$ countersign check examples/good");
    let good = check(&binary, "examples/good")?;
    println!("\n$ countersign check examples/bad");
    let bad = check(&binary, "examples/bad")?;
    match (good, bad) {
        (0, 1) => {
            println!("\nas expected: every good example was allowed, every bad one refused");
            Ok(())
        }
        _ => Err(format!("the good examples ended with {good} instead of 0, or the bad ones with {bad} instead of 1")),
    }
}

fn check(binary: &Path, folder: &str) -> Result<i32, String> {
    let status = Command::new(binary)
        .args(["check", folder])
        .current_dir(root())
        .status()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    status.code().ok_or_else(|| format!("countersign check {folder} was ended by a signal"))
}
