//! Making files and index what the landed commit says.

use super::Stand;
use super::obstacles::Way;
use crate::names;
use crate::worktree::Layout;
use crate::worktree::call::Git;
use crate::worktree::change::{Change, called, is_there};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often it is looked whether another git is done.
const TICK: Duration = Duration::from_millis(50);

/// Waits until no other git is at work in a working tree, but no longer than that.
pub(super) fn wait_for_others(place: &Layout, until: Instant) {
    while lock_of(place).symlink_metadata().is_ok() && Instant::now() < until {
        std::thread::sleep(TICK);
    }
}

/// What git holds while it changes the index.
fn lock_of(place: &Layout) -> PathBuf {
    place.git_dir.join("index.lock")
}

/// Updates what the landing changes, to a commit. Everything else, staged or not, stays as it is.
pub(super) fn update(
    git: &Git,
    stand: &Stand<'_>,
    way: &Way,
    (changes, commit): (&[Change], &str),
    until: Instant,
) -> Result<(), String> {
    if *way == Way::Begun {
        return complete(git, stand, changes);
    }
    // Git looks once more that no file has changed, and then writes; the index comes last and at once.
    let read_tree = || git.run(&["read-tree", "-m", "-u", &stand.head, commit], &[]);
    let Err(first) = read_tree() else { return must_be_gone(stand, changes) };
    // It goes by size and time alone. A file that was only touched is known to be the same after a refresh.
    wait_for_others(stand.place, until);
    let _ = git.run(&["update-index", "-q", "--refresh"], &[]);
    let Err(second) = read_tree() else { return must_be_gone(stand, changes) };
    let lock = lock_of(stand.place);
    if lock.symlink_metadata().is_ok() {
        return Err(format!(
            "{} is there: another git is at work, or was ended; if none is, remove that file, then land again",
            lock.display()
        ));
    }
    // What the first one has written before it failed may be all that the second one speaks of.
    let said = if first.text == second.text { first.text } else { format!("{}; then {}", first.text, second.text) };
    Err(format!("{said}; nothing has landed, and what was written already is completed the next time"))
}

/// Looks whether what the landing removes is gone: git only warns where it may not remove a file, and the next commit of
/// whoever works there would bring it back.
fn must_be_gone(stand: &Stand<'_>, changes: &[Change]) -> Result<(), String> {
    let (gone, there): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.after().is_none());
    // Where the case of letters or the way in which they are put together does not count, a file that is only called otherwise now
    // is still found by its old name.
    let is_left = |change: &&Change| {
        is_there(&stand.place.top, &change.name)
            && !there.iter().any(|it| is_same(&stand.place.top, &it.name, &change.name))
    };
    let left = gone.into_iter().filter(is_left).map(|it| called(&it.name, stand.place.prefix.as_bytes()));
    let left: Vec<String> = left.collect();
    if left.is_empty() {
        return Ok(());
    }
    Err(format!("{} could not be removed; nothing has landed; see to it that it can be", left.join(", ")))
}

/// Whether two names lead to the same file.
#[cfg(unix)]
fn is_same(top: &Path, one: &[u8], other: &[u8]) -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = |name: &[u8]| top.join(names::path(name)).symlink_metadata().map(|found| (found.dev(), found.ino()));
    matches!((file(one), file(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn is_same(_: &Path, one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Completes what was begun, file by file. All of them were seen to be what HEAD says or what the landing brings.
fn complete(git: &Git, stand: &Stand<'_>, changes: &[Change]) -> Result<(), String> {
    for change in changes.iter().filter(|change| change.after().is_none()) {
        remove(&stand.place.top, &change.name)?;
    }
    let (gone, there): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.after().is_none());
    // Those that go first, so that a folder can come where a file was.
    let entries: Vec<u8> = gone.iter().chain(&there).flat_map(|change| change.entry(true)).collect();
    git.run(&["update-index", "-z", "--replace", "--index-info"], &entries)?;
    let written: Vec<u8> = there.iter().flat_map(|it| [it.name.as_slice(), b"\0"].concat()).collect();
    if !written.is_empty() {
        git.run(&["checkout-index", "-f", "-q", "-u", "-z", "--stdin"], &written)?;
    }
    Ok(())
}

/// Removes a file, and the folders above that are then empty.
fn remove(top: &Path, name: &[u8]) -> Result<(), String> {
    // Where a link has come in the place of a folder, what is behind it is not meant.
    if !is_there(top, name) {
        return Ok(());
    }
    let path = top.join(names::path(name));
    std::fs::remove_file(&path).map_err(|error| format!("{} cannot be removed: {error}", path.display()))?;
    for above in path.ancestors().skip(1).take_while(|above| *above != top) {
        if std::fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_only_called_otherwise_is_known_for_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let (composed, apart, other) = ("\u{e4}", "a\u{308}", "A");
        for name in [composed, other] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        // What a file system does that does not tell the two names apart.
        std::fs::hard_link(folder.path().join(composed), folder.path().join(apart)).unwrap();
        let same = |one: &str, other: &str| is_same(folder.path(), one.as_bytes(), other.as_bytes());
        assert!(same(composed, apart) && !same(composed, other) && !same(composed, "gone"));
    }
}
