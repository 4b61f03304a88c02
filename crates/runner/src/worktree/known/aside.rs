//! What git kept about one working tree, used for another one: the files stay, and only what differs in them is written. To make
//! and to remove files takes far longer than that.
//!
//! **Invariant:** whatever was done to it while it stood aside is undone, or it is not used.

use std::fs::File;
use std::io::Write;
use std::path::Path;

/// What is known to be in it. Each is written again, or compared with what it was.
#[cfg(unix)]
const FILES: &[&str] = &["HEAD", "commondir", "gitdir", "index"];

/// Takes over what stands aside, if there is nothing in it but the few files that belong there.
#[cfg(unix)]
pub(super) fn take_over(aside: &Path, place: &Path) -> bool {
    let is_ours = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let is_known = entry.file_name().to_str().is_some_and(|name| FILES.contains(&name));
            is_known && entry.metadata().is_ok_and(|found| is_plain(&found))
        })
    };
    let is_folder = aside.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder
        && std::fs::read_dir(aside).is_ok_and(|mut entries| entries.all(is_ours))
        && std::fs::rename(aside, place).is_ok()
}

#[cfg(not(unix))]
pub(super) fn take_over(_: &Path, _: &Path) -> bool {
    false
}

/// Whether something is a file that has no other name, by which others could write to it, and as it was made.
#[cfg(unix)]
pub(in crate::worktree) fn is_plain(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.is_file() && found.nlink() == 1 && found.mode() & 0o600 == 0o600 && found.mode() & 0o7111 == 0
}

/// Makes a file hold something. One that does already is left as it is; none is ever emptied in between, since a file system
/// that sees this writes it to the disk at once.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}
