//! What is asked of git before anything is done, all of it at once: git takes longer to start than to answer.

use super::address::{self, Address};
use crate::worktree::call::{Begun, Fault, Git, is_commit};
use std::path::Path;

/// What is wanted to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The names, each with those below it.
    pub(super) names: Vec<String>,
    /// An object whose kind is asked for.
    pub(super) object: Option<String>,
    /// Whether it is asked where the repository is.
    pub(super) address: bool,
}

/// What git says.
pub(super) struct Said {
    /// The names that are there, and what each is at.
    pub(super) names: Result<Vec<(String, String)>, String>,
    /// The kind of the object. None, if it is not there, or was not asked for.
    pub(super) kind: Result<Option<String>, String>,
    /// Where the repository is, if that was asked.
    pub(super) address: Option<Result<Address, Fault>>,
}

impl Question {
    /// Asks, and waits for all of the answers.
    pub(super) fn ask(&self, folder: &Path) -> Said {
        let git = Git::at(folder);
        let names = git.begin(&names(&self.names));
        let kind = self.object.as_ref().map(|object| git.begin(&["cat-file", "-t", object]));
        let address = self.address.then(|| git.begin(address::QUESTION));
        Said {
            names: names.and_then(Begun::answer).map_err(|fault| fault.text).and_then(|out| read_names(&out)),
            kind: kind.map_or(Ok(None), |kind| read_kind(kind.and_then(Begun::answer))),
            address: address.map(|address| address::read(address.and_then(Begun::answer))),
        }
    }
}

/// How git is to tell names, and what each is at.
pub(super) const FORMAT: &str = "--format=%(refname) %(objectname)";

/// The call that lists the names that are there of these and below them, and what each is at.
pub(super) fn names(full: &[impl AsRef<str>]) -> Vec<&str> {
    let call = ["for-each-ref", FORMAT];
    call.into_iter().chain(full.iter().map(AsRef::as_ref)).collect()
}

pub(super) fn read_names(out: &[u8]) -> Result<Vec<(String, String)>, String> {
    let read = |line: &str| match line.split_once(' ') {
        Some((name, value)) if is_commit(value) => Ok((name.to_owned(), value.to_owned())),
        _ => Err("git lists among its names what is no name of an object".to_owned()),
    };
    String::from_utf8_lossy(out).lines().map(read).collect()
}

fn read_kind(answer: Result<Vec<u8>, Fault>) -> Result<Option<String>, String> {
    match answer {
        Ok(out) => Ok(Some(String::from_utf8_lossy(&out).trim().to_owned())),
        // It was asked, and does not know it.
        Err(Fault { code: Some(_), .. }) => Ok(None),
        Err(fault) => Err(fault.text),
    }
}
