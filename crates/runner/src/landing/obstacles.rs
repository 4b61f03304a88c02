//! What is in the way of a landing: changes in the same files that are not committed.

use super::Stand;
use crate::names;
use crate::worktree::call::{Git, pieces};
use crate::worktree::change::{Change, is_there};
#[cfg(unix)]
use crate::worktree::index::Index;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many bytes of names are put on a command line; beyond, git is asked about everything.
const NAMES_MAX: usize = 64 << 10;

/// Whether a landing can go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Nothing differs from HEAD in what it changes.
    Free,
    /// Some files are already as it leaves them, as after a landing that was cut short. Nothing else differs.
    Begun,
    /// These files have changes that would be lost.
    Blocked(Vec<Vec<u8>>),
}

/// Looks at the index and at the files that a landing changes.
pub(super) fn look(git: &Git, stand: &Stand<'_>, changes: &[Change]) -> Result<Way, String> {
    let gone: BTreeSet<&[u8]> =
        changes.iter().filter(|it| it.after().is_none()).map(|change| change.name.as_slice()).collect();
    let mut suspects = differing(git, changes)?;
    for change in changes.iter().filter(|change| change.before().is_none()) {
        if is_taken(&stand.place.top, &change.name, &gone) {
            suspects.insert(change.name.clone());
        }
    }
    if suspects.is_empty() {
        return Ok(Way::Free);
    }
    let suspects: Vec<Change> = changes.iter().filter(|change| suspects.contains(&change.name)).cloned().collect();
    let blocked = neither(git, stand, &suspects, &gone)?;
    Ok(if blocked.is_empty() { Way::Begun } else { Way::Blocked(blocked.into_iter().collect()) })
}

/// Whether it can be told without git that nothing is in the way: the index and the files are what HEAD says in all that the
/// landing changes. Where this says no, [`look`] says what it is, if anything.
#[cfg(unix)]
pub(super) fn is_free(stand: &Stand<'_>, changes: &[Change]) -> bool {
    let top = &stand.place.top;
    let Ok(index) = Index::read(&stand.place.git_dir.join("index")) else { return false };
    let Some(standing) = index.standing(top, stand.head.len() / 2) else { return false };
    changes.iter().all(|change| match change.before() {
        Some((mode, object)) => is_there(top, &change.name) && standing.is_clean(&change.name, mode, object),
        None => standing.is_free(&change.name) && !is_taken(top, &change.name, &BTreeSet::new()),
    })
}

#[cfg(not(unix))]
pub(super) fn is_free(_: &Stand<'_>, _: &[Change]) -> bool {
    false
}

/// The names that git tracks and that differ from HEAD, in the index or in the tree.
fn differing(git: &Git, changes: &[Change]) -> Result<BTreeSet<Vec<u8>>, String> {
    let options = ["status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"];
    let out = git.run(&with_names(&options, changes), &[])?;
    let wanted: BTreeSet<&[u8]> = changes.iter().map(|change| change.name.as_slice()).collect();
    let mut found = BTreeSet::new();
    for line in pieces(&out) {
        // Fields before the name: `1` a change, `u` a conflict.
        let fields = match line.first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            _ => continue,
        };
        let name = line.splitn(fields + 1, |byte| *byte == b' ').nth(fields);
        let name = name.ok_or("`git status` answered in an unknown form")?;
        if wanted.contains(name) {
            found.insert(name.to_vec());
        }
    }
    Ok(found)
}

/// The files that are neither what HEAD says nor what the landing brings, in the index or in the tree. What is one of
/// the two is in git, and can be replaced by the other without harm.
fn neither(
    git: &Git,
    stand: &Stand<'_>,
    changes: &[Change],
    gone: &BTreeSet<&[u8]>,
) -> Result<BTreeSet<Vec<u8>>, String> {
    let in_tree = &unlike(git, stand, changes, gone, false)? & &unlike(git, stand, changes, gone, true)?;
    let mut found = in_tree;
    let index = index_entries(git, changes)?;
    for change in changes {
        let entry = index.iter().filter(|(name, _)| *name == change.name).map(|(_, entry)| entry.as_str());
        let entries: Vec<&str> = entry.collect();
        let is = |side: Option<(&str, &str)>| match (side, entries.as_slice()) {
            (None, []) => true,
            (Some((mode, object)), [only]) => *only == format!("{mode} {object} 0"),
            _ => false,
        };
        if !is(change.before()) && !is(change.after()) {
            found.insert(change.name.clone());
        }
    }
    Ok(found)
}

/// What the index holds under the names: mode, object and stage.
fn index_entries(git: &Git, changes: &[Change]) -> Result<Vec<(Vec<u8>, String)>, String> {
    let out = git.run(&with_names(&["ls-files", "--stage", "-z"], changes), &[])?;
    let mut entries = Vec::new();
    for line in pieces(&out) {
        let mut halves = line.splitn(2, |byte| *byte == b'\t');
        let (entry, name) = (halves.next(), halves.next());
        let entry = entry.and_then(|entry| std::str::from_utf8(entry).ok());
        let (entry, name) = entry.zip(name).ok_or("`git ls-files` answered in an unknown form")?;
        entries.push((name.to_vec(), entry.to_owned()));
    }
    Ok(entries)
}

/// The files of the tree that are not what one side of the changes says. Git compares, so that filters, line ends,
/// modes and links count as they do for git.
fn unlike(
    git: &Git,
    stand: &Stand<'_>,
    changes: &[Change],
    gone: &BTreeSet<&[u8]>,
    after: bool,
) -> Result<BTreeSet<Vec<u8>>, String> {
    let side = |change: &Change| if after { change.after().is_some() } else { change.before().is_some() };
    let (there, absent): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| side(change));
    let mut found: BTreeSet<Vec<u8>> = absent
        .into_iter()
        .filter(|change| {
            if after {
                is_there(&stand.place.top, &change.name)
            } else {
                is_taken(&stand.place.top, &change.name, gone)
            }
        })
        .map(|change| change.name.clone())
        .collect();
    if there.is_empty() {
        return Ok(found);
    }
    let index = stand.place.git_dir.join("countersign-landing-index");
    clear(&index)?;
    let apart = Git { index: Some(&index), ..*git };
    let input: Vec<u8> = there.iter().flat_map(|change| change.entry(after)).collect();
    apart.run(&["update-index", "-z", "--index-info"], &input)?;
    // It ends with one when something differs, which is the question.
    let _ = apart.run(&["update-index", "-q", "--refresh"], &[]);
    let out = apart.run(&["diff-files", "-z", "--name-only", "--ignore-submodules=all"], &[])?;
    found.extend(pieces(&out).map(<[u8]>::to_vec));
    clear(&index)?;
    Ok(found)
}

fn clear(index: &Path) -> Result<(), String> {
    match std::fs::remove_file(index) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", index.display()))
        }
        _ => Ok(()),
    }
}

/// Whether something stands where a file is to come: at its name, or at the name of a folder above. Folders are not in
/// the way as long as there is nothing in them, and neither are files that go.
fn is_taken(top: &Path, name: &[u8], gone: &BTreeSet<&[u8]>) -> bool {
    for end in name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| end) {
        let above = &name[..end];
        match top.join(names::path(above)).symlink_metadata() {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return !gone.contains(above),
            Err(_) => return false,
        }
    }
    let path = top.join(names::path(name));
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => holds_others(&path, name, gone),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Whether a folder holds anything but files that go.
fn holds_others(path: &Path, name: &[u8], gone: &BTreeSet<&[u8]>) -> bool {
    let Ok(entries) = std::fs::read_dir(path) else { return true };
    entries.flatten().any(|entry| {
        let inner = [name, b"/", entry.file_name().as_encoded_bytes()].concat();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => holds_others(&entry.path(), &inner, gone),
            _ => !gone.contains(inner.as_slice()),
        }
    })
}

/// Arguments with the names behind them, if they are few enough.
pub(super) fn with_names(options: &[&str], changes: &[Change]) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = options.iter().map(OsString::from).collect();
    if changes.iter().map(|change| change.name.len() + 1).sum::<usize>() <= NAMES_MAX {
        arguments.push("--".into());
        arguments.extend(changes.iter().map(|change| PathBuf::into_os_string(names::path(&change.name))));
    }
    arguments
}
