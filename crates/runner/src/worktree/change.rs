//! How two trees differ.

use super::call::{Git, pieces};
use crate::names;
use std::path::Path;

/// What stands for a file that is not there.
const NONE: &str = "000000";
/// A repository inside of this one.
pub(super) const GITLINK: &str = "160000";

/// One file that differs between two trees: its mode and object before and after, and its name from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    old: (String, String),
    new: (String, String),
    pub(crate) name: Vec<u8>,
}

impl Change {
    /// A file that is one thing before and another one after, each with its mode and object, whose name is so many letters
    /// long.
    pub(super) fn of(old: Option<(&str, String)>, new: Option<(&str, String)>, width: usize, name: Vec<u8>) -> Self {
        let side = |side: Option<(&str, String)>| {
            side.map_or_else(|| (NONE.to_owned(), "0".repeat(width)), |(mode, object)| (mode.to_owned(), object))
        };
        Self { old: side(old), new: side(new), name }
    }

    /// Mode and object before. None, if it is new.
    pub(crate) fn before(&self) -> Option<(&str, &str)> {
        Some((self.old.0.as_str(), self.old.1.as_str())).filter(|(mode, _)| *mode != NONE)
    }

    /// Mode and object after. None, if it is gone.
    pub(crate) fn after(&self) -> Option<(&str, &str)> {
        Some((self.new.0.as_str(), self.new.1.as_str())).filter(|(mode, _)| *mode != NONE)
    }

    /// The line by which `git update-index --index-info` makes the index hold it as it is after, or as it was before.
    pub(crate) fn entry(&self, after: bool) -> Vec<u8> {
        let (mode, object) = if after { &self.new } else { &self.old };
        let mode = if mode == NONE { "0" } else { mode };
        [format!("{mode} {object}\t").as_bytes(), &self.name, b"\0"].concat()
    }

    /// Whether it is, or was, a repository inside of this one.
    pub(crate) fn is_repository(&self) -> bool {
        self.old.0 == GITLINK || self.new.0 == GITLINK
    }
}

/// Every file that differs between two trees.
pub(crate) fn between(git: &Git, old: &str, new: &str) -> Result<Vec<Change>, String> {
    let out = git.run(&["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new, "--"], &[])?;
    let (mut changes, mut parts) = (Vec::new(), pieces(&out));
    // `:100644 100755 <object> <object> M`, then the name.
    while let Some(head) = parts.next() {
        let read = || {
            let head = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
            let mut fields = head.split(' ').map(str::to_owned);
            let (old_mode, new_mode) = (fields.next()?, fields.next()?);
            Some(((old_mode, fields.next()?), (new_mode, fields.next()?)))
        };
        let (old, new) = read().ok_or("`git diff-tree` answered in an unknown form")?;
        let name = parts.next().ok_or("`git diff-tree` left out a name")?.to_vec();
        changes.push(Change { old, new, name });
    }
    Ok(changes)
}

/// A name from the top as a name from the project's folder. None, if it is outside of it.
pub(crate) fn inside<'n>(name: &'n [u8], prefix: &[u8]) -> Option<&'n [u8]> {
    name.strip_prefix(prefix)
}

/// How a file is called to people: from the project's folder, or else from the top of the working tree.
pub(crate) fn called(name: &[u8], prefix: &[u8]) -> String {
    names::resource(inside(name, prefix).unwrap_or(name))
}

/// Whether there is a file by exactly this name: not a folder, and not one that is only reached through a link.
pub(crate) fn is_there(top: &Path, name: &[u8]) -> bool {
    let is_folder = |path: &[u8]| top.join(names::path(path)).symlink_metadata().map(|found| found.is_dir());
    let mut above = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &name[..end]);
    above.all(|above| is_folder(above).unwrap_or(false)) && is_folder(name).is_ok_and(|is_folder| !is_folder)
}
