//! Files of long texts that no event names: of texts that were erased, and of commits that never came; and texts that are
//! not where they were put.

use super::Sqlite;
use crate::error::{Error, Result};
use crate::event::{Event, INLINE_BYTES_MAX};
use crate::hash::Hash;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl Sqlite {
    /// Whether a text names a blob. There is an index of those few rows alone.
    fn names_blob(&mut self, hash: Option<Hash>) -> Result<bool> {
        let Some(hash) = hash else { return Ok(false) };
        self.read(|connection| {
            connection.prepare_cached("SELECT 1 FROM text WHERE blob = ?1")?.exists([hash.0.as_slice()])
        })
    }

    /// Files of blobs that no text names. What a commit left that broke off is none of them as long as it is listed:
    /// whoever writes next removes it.
    pub(super) fn stray_blobs(&mut self) -> Result<Vec<PathBuf>> {
        let unnamed = |store: &mut Self| {
            let unlisted = |error| Error::Unreadable(format!("the folder of long texts: {error}"));
            let listed = store.blobs.all().map_err(unlisted)?;
            let mut left_over = BTreeSet::new();
            for hash in store.blobs.on_their_way() {
                left_over.extend(store.blobs.left_of(&hash).map_err(unlisted)?);
            }
            let mut stray = Vec::new();
            for (hash, path) in listed {
                if !left_over.contains(&path) && !store.names_blob(hash)? {
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

    /// Texts that lie where no text of their length is put, or in a file that is not named by their hash.
    pub(super) fn misplaced_texts(&mut self) -> Result<Vec<String>> {
        let long = self.read(|connection| {
            let sql = "SELECT seq, n FROM text WHERE octet_length(body) > ?1 LIMIT 20";
            let mut select = connection.prepare(sql)?;
            select.query_map([INLINE_BYTES_MAX as i64], place)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let filed = self.read(|connection| {
            let sql = "SELECT text.seq, n, blob, event.body FROM text JOIN event USING (seq) WHERE blob IS NOT NULL";
            let mut select = connection.prepare(sql)?;
            let read = |row: &rusqlite::Row<'_>| Ok((place(row)?, row.get::<_, Vec<u8>>(2)?, hash_of_text(row)?));
            select.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        let said = |(seq, n): (i64, i64), why: &str| format!("text {n} of event {seq} {why}");
        let mut faults: Vec<_> =
            long.into_iter().map(|at| said(at, "is in the table, and is too long to have been put there")).collect();
        for (at, name, recorded) in filed {
            let Some(name) = name.try_into().ok().map(Hash) else {
                faults.push(said(at, "is in a file that is named by no hash"));
                continue;
            };
            // One that is missing is found when it is read.
            let length = self.blobs.path(&name).metadata().map(|it| it.len()).ok();
            if recorded.is_some_and(|hash| hash != name) {
                faults.push(said(at, "is in a file that is not named by its hash"));
            } else if length.is_some_and(|length| length <= INLINE_BYTES_MAX as u64) {
                faults.push(said(at, "is in a file of its own, and is too short to have been put there"));
            }
        }
        Ok(faults)
    }

    /// Removes what a commit left that broke off, whoever's it was. Where it cannot be done, the next one sees to it.
    pub(super) fn sweep_after_a_break(&mut self) {
        let swept = self.sweep_what_broke_off();
        if swept.as_ref().is_err_and(|error| !matches!(error, Error::NotWritten(_))) {
            // What failed may have spoilt it; a file that cannot be removed has not.
            self.connection = None;
        }
        self.swept = swept.unwrap_or(false);
    }

    /// Whether nothing is left. The commit may still come for as long as its pages lie in the write-ahead log, so that is
    /// emptied first, unless somebody reads.
    fn sweep_what_broke_off(&mut self) -> Result<bool> {
        let on_their_way = self.blobs.on_their_way();
        if on_their_way.is_empty() {
            return Ok(true);
        }
        if !self.empty_log()? {
            return Ok(false);
        }
        let mut left = BTreeSet::new();
        for hash in on_their_way {
            let came = self.names_blob(Some(hash))?.then(|| self.blobs.path(&hash));
            let there = self.blobs.left_of(&hash).map_err(unswept)?;
            left.extend(there.into_iter().filter(|path| Some(path) != came.as_ref()));
        }
        remove(left)?;
        self.blobs.arrived();
        Ok(true)
    }

    /// Empties the write-ahead log, and then removes files of blobs that no text names: of texts that were erased, and of
    /// commits that never came. Nothing is done while somebody reads from the log.
    pub(super) fn sweep_behind_the_log(&mut self) -> Result<bool> {
        if !self.empty_log()? {
            return Ok(false);
        }
        let mut left = Vec::new();
        for (hash, path) in self.blobs.all().map_err(unswept)? {
            if !self.names_blob(hash)? {
                left.push(path);
            }
        }
        remove(left)?;
        self.blobs.arrived();
        Ok(true)
    }
}

fn unswept(error: std::io::Error) -> Error {
    Error::NotWritten(format!("the folder of long texts cannot be swept: {error}"))
}

/// Removes files. They are gone once their folders are synced: a file that was only unlinked can be back when the power has
/// gone.
fn remove(files: impl IntoIterator<Item = PathBuf>) -> Result<()> {
    let mut folders = BTreeSet::new();
    for path in files {
        std::fs::remove_file(&path).map_err(unswept)?;
        folders.extend(path.parent().map(Path::to_owned));
    }
    let sync = |folder: PathBuf| std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    folders.into_iter().try_for_each(sync).map_err(unswept)
}

fn place(row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, i64)> {
    Ok((row.get(0)?, row.get(1)?))
}

/// The hash of a text, as its event has it.
fn hash_of_text(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Hash>> {
    let (n, body): (i64, String) = (row.get(1)?, row.get(3)?);
    let event = Event::read(&body).ok();
    Ok(usize::try_from(n).ok().and_then(|n| event?.texts.get(n).copied()))
}
