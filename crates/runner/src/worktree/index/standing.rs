//! Whether files of a working tree are what its index says, as far as that can be told without reading them.
//!
//! The same is compared as by git, and a little more, but for one thing: git may take a whole second for the moment in which an
//! index was written, and this takes the time as the file system has it. Whatever is changed after it was looked at here, git
//! looks at once more before it writes over it.

use super::{Entry, Index};
use crate::names;
use crate::worktree::objects::written;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What an index says about the files of a working tree.
pub(crate) struct Standing<'i> {
    top: &'i Path,
    entries: BTreeMap<&'i [u8], Entry<'i>>,
    time: SystemTime,
}

impl Index {
    /// What it says about the files of a working tree, of which objects have names of `hash` bytes. None, if that is not all that
    /// there is to say: it has another form, or only a part of the files.
    pub(crate) fn standing<'i>(&'i self, top: &'i Path, hash: usize) -> Option<Standing<'i>> {
        let (entries, mut at) = self.entries(hash)?;
        // Behind the files, before its own hash: parts with a name and a length. Those that begin with a capital letter can be
        // left out of account.
        while at + hash < self.bytes.len() {
            if !self.bytes.get(at)?.is_ascii_uppercase() {
                return None;
            }
            at += 8 + usize::try_from(self.number(at + 4)?).ok()?;
        }
        let entries = entries.into_iter().map(|entry| (entry.name, entry)).collect();
        Some(Standing { top, entries, time: self.time })
    }
}

impl Standing<'_> {
    /// Whether it has nothing by this name, nor anything below it, nor a file where the folders above it would be.
    pub(crate) fn is_free(&self, name: &[u8]) -> bool {
        let mut above = memchr::memchr_iter(b'/', name).map(|end| &name[..end]);
        if above.any(|folder| self.entries.contains_key(folder)) {
            return false;
        }
        let below = [name, b"/"].concat();
        let is_taken_below =
            self.entries.range(below.as_slice()..).next().is_some_and(|(it, _)| it.starts_with(&below));
        !self.entries.contains_key(name) && !is_taken_below
    }

    /// Whether it has this file, with this mode and object, and the file is there and was not changed since.
    pub(crate) fn is_clean(&self, name: &[u8], mode: &str, object: &str) -> bool {
        let Some(entry) = self.entries.get(name).filter(|entry| entry.is_plain) else { return false };
        let [changed, changed_part, modified, modified_part, _, place, has, user, group, size] = entry.stat;
        // A plain file and nothing else: what links are is looked at more closely.
        if format!("{has:o}") != mode || !mode.starts_with("100") || written(entry.object) != object {
            return false;
        }
        // Git takes the size out where it does not trust the rest.
        if size == 0 {
            return false;
        }
        let Ok(found) = self.top.join(names::path(name)).symlink_metadata() else { return false };
        let low = |number: u64| number & 0xffff_ffff;
        let low_of = |number: i64| low(number.cast_unsigned());
        found.is_file()
            && (found.mode() & 0o100 != 0) == (has & 0o100 != 0)
            && (low_of(found.ctime()), low_of(found.ctime_nsec())) == (changed.into(), changed_part.into())
            && (low_of(found.mtime()), low_of(found.mtime_nsec())) == (modified.into(), modified_part.into())
            && (low(found.ino()), low(found.size())) == (place.into(), size.into())
            && (found.uid(), found.gid()) == (user, group)
            // What was written in the moment in which the index was could have been written again.
            && UNIX_EPOCH + Duration::new(modified.into(), modified_part) < self.time
    }
}
