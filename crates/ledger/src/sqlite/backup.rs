//! Copying a database with its long texts to another place.
//!
//! The copy is made in a folder beside its place. Its long texts are put there first and the file last, so that a file that
//! is there is whole.

use super::blobs::Blobs;
use super::not_written;
use crate::error::{Error, Result};
use crate::hash::Hash;
use rusqlite::Connection;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Copies a database and the long texts that it names.
pub(super) fn backup(connection: &Connection, blobs: &Blobs, to: &Path) -> Result<()> {
    let failed = |error: io::Error| Error::NotWritten(format!("{} cannot be written: {error}", to.display()));
    let to = std::path::absolute(to).map_err(failed)?;
    let kept = Blobs::beside(&to);
    for path in [to.as_path(), kept.folder()] {
        if path.symlink_metadata().is_ok() {
            return Err(Error::NotWritten(format!("{} is there already", path.display())));
        }
    }
    let folder = to.parent().unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        let why = format!("{} cannot be written: there is no directory {}", to.display(), folder.display());
        return Err(Error::NotWritten(why));
    }
    // The name of the folder on the way is nobody's business.
    let beside = tempfile::tempdir_in(folder).map_err(|error| failed(error.kind().into()))?;
    let copy = beside.path().join("copy");
    copy_to(connection, &copy)?;
    File::open(&copy).and_then(|it| it.sync_all()).map_err(failed)?;
    let copied = Blobs::beside(&copy);
    for hash in named(&copy).map_err(|error| not_written(&error))? {
        let body = blobs.read(&hash).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::NotWritten(format!(
                "the long text {} is gone; if it was erased just now, copy again, and else run `countersign verify`",
                blobs.path(&hash).display()
            )),
            _ => failed(error),
        })?;
        copied.keep(&hash, &body).map_err(failed)?;
    }
    let moved = copied.folder().exists();
    if moved {
        std::fs::rename(copied.folder(), kept.folder()).map_err(failed)?;
    }
    let placed = place(&copy, &to).and_then(|()| File::open(folder)?.sync_all());
    placed.map_err(failed).inspect_err(|_| {
        if moved {
            let _ = std::fs::remove_dir_all(kept.folder());
        }
    })
}

/// Puts a file in its place, unless one came to be there meanwhile. That is what a link does, and a rename does not; some
/// file systems have no links.
fn place(copy: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(copy, to) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy_anew(copy, to),
        placed => placed,
    }
}

fn copy_anew(copy: &Path, to: &Path) -> io::Result<()> {
    private_file(to)?;
    let copied = std::fs::copy(copy, to).and_then(|_| File::open(to)?.sync_all());
    copied.inspect_err(|_| {
        let _ = std::fs::remove_file(to);
    })
}

/// The long texts that a copy names.
fn named(copy: &Path) -> rusqlite::Result<Vec<Hash>> {
    let connection = Connection::open(copy)?;
    let mut select = connection.prepare("SELECT DISTINCT blob FROM text WHERE blob IS NOT NULL")?;
    select.query_map([], |row| row.get::<_, [u8; 32]>(0).map(Hash))?.collect()
}

/// Copies a database page by page to a new file.
pub(super) fn copy_to(connection: &Connection, to: &Path) -> Result<()> {
    const PAGES: std::ffi::c_int = 1024;
    private_file(to).map_err(|error| Error::NotWritten(format!("{} cannot be made: {error}", to.display())))?;
    let copy = || {
        let mut target = Connection::open(to)?;
        let backup = rusqlite::backup::Backup::new(connection, &mut target)?;
        // Without pauses: each step is a read transaction of its own, and writers are never kept waiting.
        backup.run_to_completion(PAGES, Duration::ZERO, None)
    };
    copy().map_err(|error| not_written(&error))
}

/// Makes an empty file that only its owner may read.
pub(super) fn private_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn where_there_are_no_links_a_copy_takes_no_place_either() {
        let folder = tempfile::tempdir().unwrap();
        let (copy, to) = (folder.path().join("copy"), folder.path().join("to"));
        std::fs::write(&copy, "new").unwrap();
        copy_anew(&copy, &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
        std::fs::write(&to, "other").unwrap();
        assert_eq!(copy_anew(&copy, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(place(&copy, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&to).unwrap(), b"other");
    }
}
