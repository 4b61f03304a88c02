//! Files of long texts that no event names: of texts that were erased, and of commits that never came.

use super::Sqlite;
use crate::error::{Error, Result};
use crate::hash::Hash;
use std::path::PathBuf;

impl Sqlite {
    /// Whether a text names a blob. There is an index of those few rows alone.
    fn names_blob(&mut self, hash: Option<Hash>) -> Result<bool> {
        let Some(hash) = hash else { return Ok(false) };
        self.read(|connection| {
            connection.prepare_cached("SELECT 1 FROM text WHERE blob = ?1")?.exists([hash.0.as_slice()])
        })
    }

    /// Files of blobs that no text names.
    pub(super) fn stray_blobs(&mut self) -> Result<Vec<PathBuf>> {
        let unnamed = |store: &mut Self| {
            let listed = store.blobs.all();
            let listed = listed.map_err(|error| Error::Unreadable(format!("the folder of long texts: {error}")))?;
            let mut stray = Vec::new();
            for (hash, path) in listed {
                if !store.names_blob(hash)? {
                    stray.push(path);
                }
            }
            Ok(stray)
        };
        let stray = unnamed(self)?;
        if stray.is_empty() || self.writing || self.reading.is_some() {
            return Ok(stray);
        }
        // A file is there before the commit that names it. In the writer's place no commit is on its way.
        self.in_turn(unnamed)
    }

    /// Removes files of blobs that no text names: of texts that were erased, and of commits that never came.
    pub(super) fn sweep_blobs(&mut self) -> Result<()> {
        let failed =
            |error: std::io::Error| Error::NotWritten(format!("the folder of long texts cannot be swept: {error}"));
        for (hash, path) in self.blobs.all().map_err(failed)? {
            if !self.names_blob(hash)? {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        Ok(())
    }
}
