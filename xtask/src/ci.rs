//! `cargo xtask ci`: everything that must hold beside the tests. `.ci/run` runs this and then the tests.

use crate::house::{cargo, fuzz_manifest, run, target_dir};
use crate::steps::{self, Step};
use crate::{Outcome, Verb, no_arguments, tidy};
use std::process::Command;

pub(crate) const VERB: Verb =
    Verb { name: "ci", arguments: "", summary: "check format, lints, documentation and house rules", run: verb };

/// The quickest first, so that a slip of the pen is heard of at once.
fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    steps::run(vec![
        Step::new("format", format),
        Step::new("tidy", tidy::everything),
        Step::new("lints", lints),
        Step::new("documents", documents),
    ])
}

fn format() -> Outcome {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut in_fuzz("fmt", &["--check"]))
}

fn lints() -> Outcome {
    const WARNINGS: &[&str] = &["--", "--deny", "warnings"];
    run(cargo(&["clippy", "--workspace", "--all-targets"]).args(WARNINGS))?;
    run(in_fuzz("clippy", &["--no-deps", "--all-targets", "--target-dir"]).arg(target_dir()).args(WARNINGS))
}

fn documents() -> Outcome {
    run(cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"))
}

/// The fuzz targets are a workspace of their own, which `--workspace` does not reach.
fn in_fuzz(verb: &str, arguments: &[&str]) -> Command {
    let mut command = cargo(&[verb, "--manifest-path"]);
    command.arg(fuzz_manifest()).args(arguments);
    command
}
