//! Long texts: a file each, named by the text's salted hash.
//!
//! A file is there before the commit that names it. While one is on its way, a list of them lies beside the files; where it is
//! found by whoever writes next, that commit broke off, and what it left is removed.

use crate::hash::Hash;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The list, a hash in each line.
const ON_THEIR_WAY: &str = ".writing";
/// How a file begins that is not yet in its place.
const UNFINISHED: &str = ".tmp";

pub(super) struct Blobs(PathBuf);

impl Blobs {
    /// The folder is named after the database, so that no two of them share one.
    pub(super) fn beside(database: &Path) -> Self {
        let mut path = database.as_os_str().to_owned();
        path.push("-blobs");
        Self(path.into())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// Where a blob lies.
    pub(super) fn path(&self, hash: &Hash) -> PathBuf {
        let name = hash.hex();
        self.0.join(&name[..2]).join(&name[2..])
    }

    /// Says that a file is written whose commit has not come yet. That is durable before the file is.
    pub(super) fn announce(&self, hash: &Hash) -> io::Result<()> {
        std::fs::create_dir_all(&self.0)?;
        let mut list = File::options().create(true).append(true).open(self.0.join(ON_THEIR_WAY))?;
        list.write_all(format!("{}\n", hash.hex()).as_bytes())?;
        list.sync_all()
    }

    /// The files whose commit has not come, as far as it is known here.
    pub(super) fn on_their_way(&self) -> Vec<Hash> {
        let list = std::fs::read_to_string(self.0.join(ON_THEIR_WAY)).unwrap_or_default();
        list.lines().filter_map(Hash::from_hex).collect()
    }

    /// Their commit has come, or what they left is gone. A list that cannot be removed, or comes back when the power has gone,
    /// costs a look and nothing else.
    pub(super) fn arrived(&self) {
        let _ = std::fs::remove_file(self.0.join(ON_THEIR_WAY));
    }

    /// What is there of a text whose commit has not come: the file, and those that were to become it.
    pub(super) fn left_of(&self, hash: &Hash) -> io::Result<Vec<PathBuf>> {
        let path = self.path(hash);
        let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_file());
        let mut left: Vec<_> = [path.clone()].into_iter().filter(|path| is_file(path)).collect();
        let beside = match path.parent().map(std::fs::read_dir) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Some(Ok(beside)) => beside,
            _ => return Ok(left),
        };
        for file in beside {
            let file = file?;
            if file.file_name().to_string_lossy().starts_with(UNFINISHED) && is_file(&file.path()) {
                left.push(file.path());
            }
        }
        Ok(left)
    }

    /// Writes a text, whole and durable, or nothing.
    pub(super) fn keep(&self, hash: &Hash, body: &[u8]) -> io::Result<()> {
        let path = self.path(hash);
        let Some(folder) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.as_file_mut().write_all(body)?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        // From the outermost on: the list is safe before the file is.
        for folder in [self.0.parent(), Some(self.0.as_path()), Some(folder)].into_iter().flatten() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Reads a text. What is no file is none: a pipe would be waited for without end, and what a link leads to would be left
    /// by an erasure.
    pub(super) fn read(&self, hash: &Hash) -> io::Result<Vec<u8>> {
        let path = self.path(hash);
        if !path.symlink_metadata()?.is_file() {
            return Err(io::Error::other("what lies there is no file"));
        }
        std::fs::read(path)
    }

    /// All files that are here: those that are blobs by their hash, and what a crash left of others.
    pub(super) fn all(&self) -> io::Result<Vec<(Option<Hash>, PathBuf)>> {
        let mut found = Vec::new();
        let folders = match std::fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            other => other?,
        };
        for folder in folders {
            let folder = folder?;
            if folder.file_name() == ON_THEIR_WAY {
                continue;
            }
            if !folder.file_type()?.is_dir() {
                found.push((None, folder.path()));
                continue;
            }
            for file in std::fs::read_dir(folder.path())? {
                let file = file?;
                let name = folder.file_name().to_string_lossy().into_owned() + &file.file_name().to_string_lossy();
                found.push((Hash::from_hex(&name), file.path()));
            }
        }
        Ok(found)
    }
}
