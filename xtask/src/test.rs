//! `cargo xtask test`: every test there is, by one command.
//!
//! What the tests need beside the toolchain is looked for in [`needs`] before the first of them runs, and whatever had
//! to be installed, started or done without is said there.

use crate::house::{TESTED, answers, cargo, run, target_dir};
use crate::steps::{self, Step};
use crate::{Outcome, Verb, fuzz, no_arguments};
use std::process::Command;

pub(crate) const VERB: Verb =
    Verb { name: "test", arguments: "", summary: "run every test: units, documents, a bounded fuzz run", run: verb };

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    let needs = needs();
    steps::run(vec![
        Step::new("tests", || tests(&needs)),
        Step::new("doc tests", || run(&mut cargo(&["test", "--workspace", "--doc"]))),
        Step::new("fuzz", fuzz::bounded),
    ])
}

/// What was found of what the tests need.
struct Needs {
    /// Runs the tests of all crates side by side, each in a process of its own.
    nextest: bool,
}

/// Looks for what the tests need. A service that they come to need is started here.
fn needs() -> Needs {
    let nextest = answers(&mut cargo(&["nextest", "--version"]));
    if !nextest {
        println!("cargo-nextest is not installed; using `cargo test`, which runs the same tests more slowly");
        println!("to install it: cargo install cargo-nextest --locked");
    }
    for tool in [POSTGRES, OPENSSL, STRACE, PYTHON, NPM, CHROMIUM] {
        tool.provide();
    }
    provide_schemathesis();
    Needs { nextest }
}

/// A program that tests need beside the toolchain. They fail without it, and are never passed over.
pub(crate) struct Tool {
    /// What it is called.
    name: &'static str,
    /// The Debian package that has it.
    package: &'static str,
    /// Whether it is there.
    here: fn() -> bool,
}

/// A server whose programs the tests start themselves; nothing needs to run.
const POSTGRES: Tool = Tool { name: "a PostgreSQL server", package: "postgresql", here: has_postgres };
/// What makes the certificates of servers.
const OPENSSL: Tool = Tool { name: "openssl", package: "openssl", here: has_openssl };
/// What breaks system calls.
pub(crate) const STRACE: Tool = Tool { name: "strace", package: "strace", here: has_strace };
/// What installs and runs the clients of others.
const PYTHON: Tool = Tool { name: "Python with its venv", package: "python3-venv", here: has_python };
/// The same for those that run on node.
const NPM: Tool = Tool { name: "npm", package: "npm", here: has_npm };
/// What looks at pages.
const CHROMIUM: Tool = Tool { name: "Chromium", package: "chromium", here: has_chromium };

impl Tool {
    /// Installs it where it is missing, and says so.
    pub(crate) fn provide(&self) {
        let Self { name, package, here } = self;
        if here() {
            return;
        }
        println!("{name} is not installed; tests need it, so {package} is installed with apt-get");
        let as_root = answers(Command::new("test").args(["-w", "/usr/bin"]));
        let apt = |arguments: &[&str]| {
            let mut command = Command::new(if as_root { "apt-get" } else { "sudo" });
            if !as_root {
                command.args(["-n", "apt-get"]);
            }
            // What comes of it is seen by looking again.
            let _ = run(command.args(arguments));
        };
        let install: &[&str] = &["install", "--yes", "--no-install-recommends", package];
        apt(install);
        // The list of packages may be older than what is still to be had.
        if !here() {
            apt(&["update"]);
            apt(install);
        }
        if !here() {
            println!(
                "{name} could not be installed; the tests that need it will fail. To install it: apt-get install {package}"
            );
        }
    }
}

/// What asks a server everything that its document allows, and much that it does not.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";

/// Installs it from PyPI into the target directory, where the test looks for it.
fn provide_schemathesis() {
    let folder = target_dir().join("schemathesis");
    let mark = folder.join("installed");
    if std::fs::read_to_string(&mark).is_ok_and(|what| what == SCHEMATHESIS) {
        return;
    }
    println!("schemathesis is not installed; the test of the HTTP door needs it, so it goes to {}", folder.display());
    let made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder)).and_then(|()| {
        let pip = folder.join("bin").join("pip");
        run(Command::new(pip).args(["install", "--quiet", "--disable-pip-version-check", SCHEMATHESIS]))
    });
    // Marked last, so that what broke off is begun again.
    match made.and_then(|()| std::fs::write(&mark, SCHEMATHESIS).map_err(|error| error.to_string())) {
        Ok(()) => {}
        Err(why) => println!("schemathesis could not be installed; the test that needs it will fail: {why}"),
    }
}

fn has_strace() -> bool {
    cfg!(not(target_os = "linux")) || answers(Command::new("strace").arg("--version"))
}

fn has_openssl() -> bool {
    answers(Command::new("openssl").arg("version"))
}

fn has_python() -> bool {
    answers(Command::new("python3").args(["-c", "import ensurepip, venv"]))
}

fn has_npm() -> bool {
    answers(Command::new("npm").arg("--version"))
}

/// Whether a browser is there under one of the names by which the tests call it.
fn has_chromium() -> bool {
    ["chromium", "chromium-browser", "google-chrome"].iter().any(|name| answers(Command::new(name).arg("--version")))
}

/// Whether the programs of a PostgreSQL server are where the tests look for them.
fn has_postgres() -> bool {
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = debian.map(|version| version.path().join("bin")).chain(std::env::split_paths(&path));
    folders.any(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
}

/// What properties draw their cases from. A change is judged on the same cases as the one before it, so that what fails is
/// what was changed; `cargo test` by itself draws new ones each time.
const SEED: &str = "PROPTEST_RNG_SEED";
const SEED_OF_THE_HOUSE: &str = "20260207";

fn tests(needs: &Needs) -> Outcome {
    let runner: &[&str] =
        if needs.nextest { &["nextest", "run", "--no-fail-fast"] } else { &["test", "--no-fail-fast"] };
    let mut tests = cargo(runner);
    if std::env::var_os(SEED).is_none() {
        tests.env(SEED, SEED_OF_THE_HOUSE);
    }
    run(tests.args(TESTED))
}
