//! `cargo xtask tidy`: the rules of the house, held by a program so that nobody has to remember them.
//!
//! Each check is a pure function from the tracked files to what is wrong with them; that is why each can be tested with
//! a fault planted in a tree that exists in memory only. The last, in `examples.rs`, runs the binary.

mod examples;
mod layers;
mod layout;
mod links;
mod markdown;
mod purity;
mod rules;
mod source;
mod tree;
mod words;

pub use tree::Tree;

use crate::house::{has_binary, root};
use crate::{Outcome, Verb, no_arguments};
use std::fmt;

pub(crate) const VERB: Verb =
    Verb { name: "tidy", arguments: "", summary: "check the rules of the house and the examples shown", run: verb };

/// Something that is not as the house wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file, from the root of the workspace.
    pub path: String,
    /// The line, from 1; 0 where the file as a whole is meant.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Fault {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}: {}", self.path, self.message),
            line => write!(out, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// A rule of the house: its name, and what finds the breaches of it.
type Check = (&'static str, fn(&Tree) -> Vec<Fault>);

/// Every rule of the house that is seen by reading.
const CHECKS: &[Check] = &[
    ("crates use only what they may", layers::check),
    ("pure crates do not touch the world", purity::check),
    ("one rule, one file", rules::check),
    ("files have a name, a head and a size", layout::check),
    ("nothing unfinished and nothing of the workplace", words::check),
    ("links lead somewhere", links::check),
];

/// What is not tidy in a tree of files.
pub fn check(tree: &Tree) -> Vec<Fault> {
    CHECKS.iter().flat_map(|(_, check)| check(tree)).collect()
}

/// What is not tidy in this workspace, as far as reading shows.
pub fn check_workspace() -> Result<Vec<Fault>, String> {
    Ok(check(&Tree::of_workspace(&root())?))
}

/// What this workspace shows in its documents and does not do; none is an answer only once there is a binary to ask.
pub fn check_examples() -> Result<Option<Vec<Fault>>, String> {
    if !has_binary() {
        return Ok(None);
    }
    let tree = Tree::of_workspace(&root())?;
    examples::check(&tree, &root()).map(Some)
}

fn verb(arguments: &[String]) -> Outcome {
    no_arguments(arguments)?;
    everything()
}

/// All of it, said aloud.
pub(crate) fn everything() -> Outcome {
    let tree = Tree::of_workspace(&root())?;
    let mut count = 0;
    for (name, check) in CHECKS {
        count += say(name, &check(&tree));
    }
    match check_examples()? {
        Some(faults) => count += say("examples are true", &faults),
        None => println!("skipped  examples are true: there is no crate `countersign` to run them with"),
    }
    if count == 0 { Ok(()) } else { Err(format!("not tidy in {count} places")) }
}

fn say(name: &str, faults: &[Fault]) -> usize {
    println!("{}  {name}", if faults.is_empty() { "ok     " } else { "FAILED " });
    for fault in faults {
        println!("         {fault}");
    }
    faults.len()
}
