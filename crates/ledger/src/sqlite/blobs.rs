//! Long texts: a file each, named by the text's salted hash.

use crate::hash::Hash;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

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

    /// Writes a text, whole and durable, or nothing.
    pub(super) fn keep(&self, hash: &Hash, body: &[u8]) -> io::Result<()> {
        let path = self.path(hash);
        let Some(folder) = path.parent() else { return Err(io::ErrorKind::InvalidInput.into()) };
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(body)?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        for folder in [Some(folder), Some(self.0.as_path()), self.0.parent()].into_iter().flatten() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    pub(super) fn read(&self, hash: &Hash) -> io::Result<Vec<u8>> {
        std::fs::read(self.path(hash))
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
