//! `cargo xtask fuzz`: throws hostile text at the parsers and the checker.
//!
//! There are two ways to the same targets, which are plain functions in `fuzz/`: a driver that changes a small corpus
//! by a seed and needs nothing but the stable toolchain, which every run of the tests uses; and libFuzzer, which learns
//! from coverage and needs nightly.

use crate::house::{answers, cargo, fuzz_manifest, root, run, target_dir};
use crate::{Outcome, Verb};
use std::process::Command;

pub(crate) const VERB: Verb = Verb {
    name: "fuzz",
    arguments: "[TARGET [SECONDS]]",
    summary: "fuzz one target with libFuzzer (nightly), or all from a seed",
    run: verb,
};

const SECONDS_DEFAULT: &str = "60";

/// What makes LLVM report coverage to libFuzzer, and checks arithmetic.
const RUSTFLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

fn verb(arguments: &[String]) -> Outcome {
    let (target, seconds) = match arguments {
        [] => return bounded(),
        [target] => (target.as_str(), SECONDS_DEFAULT),
        [target, seconds] => (target.as_str(), seconds.as_str()),
        _ => return Err(format!("this takes at most two arguments: {}", VERB.arguments)),
    };
    if seconds.parse::<u32>().is_err() {
        return Err(format!("`{seconds}` is not a number of seconds"));
    }
    if answers(Command::new("rustup").args(["run", "nightly", "rustc", "--version"])) {
        return libfuzzer(target, seconds);
    }
    println!("the nightly toolchain is not installed; using the seeded driver, which does not learn from coverage");
    println!("to install it: rustup toolchain install nightly");
    drive(&["--target", target, "--seconds", seconds, "--iterations", "18446744073709551615"])
}

/// The run that belongs to the tests: every target, from a fixed seed, a fixed number of times, within a fixed time.
pub(crate) fn bounded() -> Outcome {
    drive(&[])
}

fn drive(arguments: &[&str]) -> Outcome {
    let mut command = cargo(&["run", "--quiet", "--bin", "drive", "--manifest-path"]);
    // The same target directory, so that what both have in common is built once.
    command.arg(fuzz_manifest()).arg("--target-dir").arg(target_dir()).arg("--").args(arguments);
    run(&mut command).map_err(|error| format!("{error}; if it gave no input, run it again with `-- --trace`"))
}

fn libfuzzer(target: &str, seconds: &str) -> Outcome {
    let (corpus, artifacts) = (root().join("fuzz/corpus").join(target), root().join("fuzz/artifacts").join(target));
    std::fs::create_dir_all(&artifacts).map_err(|error| format!("{}: {error}", artifacts.display()))?;
    if !corpus.is_dir() {
        drive(&["--seeds-to", &corpus.to_string_lossy()])?;
    }
    // `--target` keeps the flags away from build scripts, which have no use for coverage.
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "run", "--release", "--features", "libfuzzer", "--bin", target]);
    command.arg("--target").arg(host()?).arg("--manifest-path").arg(fuzz_manifest());
    command.arg("--target-dir").arg(root().join("fuzz/target")).env("RUSTFLAGS", RUSTFLAGS);
    command.arg("--").arg(&corpus).arg(format!("-artifact_prefix={}/", artifacts.display()));
    command.args([&format!("-max_total_time={seconds}"), "-timeout=5", "-rss_limit_mb=1024", "-max_len=4096"]);
    // Cargo tells programs that it runs which cargo it is; a nightly one must not be told to be ours.
    run(command.current_dir(root()).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN"))
}

fn host() -> Result<String, String> {
    let about = crate::house::output(Command::new("rustc").arg("-vV"))?;
    let about = String::from_utf8_lossy(&about);
    let host = about.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| "rustc does not name its host".to_owned())
}
