//! What a working tree was like before somebody worked in it, so that it can be made like that again.
//!
//! A file counts as untouched only if everything about it is the same that the file system knows, above all when anything
//! about it was changed last, which a program cannot set. Whatever else is found is removed, ignored or not, and git writes
//! anew what is then missing.
//!
//! **Absent on purpose:** trust in what stands in the tree or in what git keeps about it. Whoever worked there could write
//! to both; what is compared with is kept in memory.

use super::index::Index;
use super::known::aside;
use super::removing::remove_all;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many files may have changed in the moment in which a likeness is taken.
const FEW: usize = 50;
/// How long is waited for the next moment. File systems count in steps of some milliseconds.
const PATIENCE: Duration = Duration::from_millis(50);

/// What a working tree was like.
#[derive(Debug)]
pub(super) struct Likeness {
    /// Everything in it, by its name from the top, which is itself the empty name.
    entries: HashMap<PathBuf, Trace>,
    /// The index that goes with it.
    pub(super) index: Arc<Index>,
    /// When it was taken, by the clock of the file system. What was changed in that moment could have been changed again.
    taken: (i64, i64),
}

/// Everything that the file system knows about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    place: (u64, u64),
    owner: (u32, u32),
    mode: u32,
    links: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Trace {
    fn of(found: &std::fs::Metadata) -> Self {
        Self {
            place: (found.dev(), found.ino()),
            owner: (found.uid(), found.gid()),
            mode: found.mode(),
            links: found.nlink(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}

impl Likeness {
    /// Looks at a working tree whose index is known. What git itself needs there is not part of it.
    ///
    /// # Errors
    /// It cannot be looked at, or the file system is not known to tell every change.
    pub(super) fn take(top: &Path, index: Arc<Index>, clock: &Clock) -> std::io::Result<Self> {
        if !tells_every_change(top) {
            return Err(std::io::Error::other("the file system is not known to tell every change"));
        }
        let mut entries = HashMap::new();
        let mut folders = vec![PathBuf::new()];
        entries.insert(PathBuf::new(), Trace::of(&top.symlink_metadata()?));
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(top.join(&folder))? {
                let entry = entry?;
                let name = folder.join(entry.file_name());
                if name == Path::new(".git") {
                    continue;
                }
                let found = entry.metadata()?;
                if found.is_dir() {
                    folders.push(name.clone());
                }
                entries.insert(name, Trace::of(&found));
            }
        }
        let mut taken = clock.now(top)?;
        let last = entries.values().map(|it: &Trace| it.changed).max().unwrap_or(taken);
        // A few are written again next time; for many it is worth to wait until the clock goes on.
        let until = Instant::now() + PATIENCE;
        while entries.values().filter(|it| it.changed >= taken).count() > FEW && last >= taken && Instant::now() < until
        {
            std::thread::sleep(Duration::from_millis(1));
            taken = clock.now(top)?;
        }
        Ok(Self { entries, index, taken })
    }

    /// Removes everything that is not as it was. Of what names the repository only the text is left as it is, which is written
    /// anew for each tree.
    pub(super) fn restore(&self, top: &Path) -> Result<(), String> {
        let said = |error: std::io::Error| format!("{} cannot be looked at: {error}", top.display());
        if !self.is_same_folder(Path::new(""), top, &top.symlink_metadata().map_err(said)?) {
            return Err(format!("{} itself was changed", top.display()));
        }
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(top.join(&folder)).map_err(said)? {
                let entry = entry.map_err(said)?;
                let (name, path) = (folder.join(entry.file_name()), entry.path());
                let found = entry.metadata().map_err(said)?;
                let names_repository = name == Path::new(".git") && self.is_as_made(&path, &found);
                if found.is_dir() && self.is_same_folder(&name, &path, &found) {
                    folders.push(name);
                } else if !names_repository && (found.is_dir() || !self.is_untouched(&name, &found)) {
                    remove_all(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a file is like any that was made here, whatever its text is.
    fn is_as_made(&self, path: &Path, found: &std::fs::Metadata) -> bool {
        let is_whose = self.entries.get(Path::new("")).is_some_and(|top| top.owner == Trace::of(found).owner);
        is_whose && aside::is_plain(found) && has_no_attributes(path)
    }

    fn is_untouched(&self, name: &Path, found: &std::fs::Metadata) -> bool {
        self.entries.get(name).is_some_and(|was| *was == Trace::of(found) && was.changed < self.taken)
    }

    /// A folder changes with what is in it, which is looked at by itself. What else can be changed about it is who may do
    /// what there, and what programs wrote to its margin.
    fn is_same_folder(&self, name: &Path, path: &Path, found: &std::fs::Metadata) -> bool {
        let now = Trace::of(found);
        self.entries.get(name).is_some_and(|was| {
            let is_same = (was.place, was.owner, was.mode) == (now.place, now.owner, now.mode);
            is_same && (was.changed == now.changed && was.changed < self.taken || has_no_attributes(path))
        })
    }
}

/// What time it is for the file system, by a file of our own that has no name.
#[derive(Debug, Default)]
pub(super) struct Clock(Mutex<Option<File>>);

impl Clock {
    /// The time where a tree stands.
    fn now(&self, top: &Path) -> std::io::Result<(i64, i64)> {
        // Nobody leaves it half changed.
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile_in(top.parent().unwrap_or(top))?),
        };
        file.write_all_at(b".", 0)?;
        let found = file.metadata()?;
        Ok((found.ctime(), found.ctime_nsec()))
    }
}

#[cfg(target_os = "linux")]
fn has_no_attributes(path: &Path) -> bool {
    // There is no room for even one; if there are any, that is an error.
    let found = rustix::fs::llistxattr(path, &mut [0_u8; 1]);
    found == Ok(0) || found == Err(rustix::io::Errno::NOTSUP)
}

#[cfg(not(target_os = "linux"))]
fn has_no_attributes(_: &Path) -> bool {
    false
}

/// Whether a folder is on a file system of this machine that notes the time of every change. Those of other machines go by
/// other clocks, and tell late.
#[cfg(target_os = "linux")]
fn tells_every_change(path: &Path) -> bool {
    // ext2 to ext4, XFS, Btrfs, F2FS. Not tmpfs, where a write through a mapping leaves no trace, nor what may lie on it.
    const KNOWN: &[u64] = &[0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];
    rustix::fs::statfs(path).is_ok_and(|found| u64::try_from(found.f_type).is_ok_and(|kind| KNOWN.contains(&kind)))
}

#[cfg(not(target_os = "linux"))]
fn tells_every_change(_: &Path) -> bool {
    false
}
