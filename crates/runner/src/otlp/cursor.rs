//! How far in the log everything was sent: a small file in the project, and a lock so that one process sends at a time.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const FILE: &str = "tracing.json";
const LOCK: &str = "tracing.lock";

/// The place in the log, held by this process.
pub(super) struct Cursor {
    folder: PathBuf,
    project: String,
    /// Up to this event everything that ended was sent.
    pub(super) after: u64,
    _lock: File,
}

impl Cursor {
    /// Takes the place, at `head` if there was none yet. None, if another process has it.
    pub(super) fn take(folder: &Path, project: &str, head: u64) -> Result<Option<Self>, String> {
        let path = folder.join(LOCK);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(error) => return Err(format!("{} cannot be locked: {error}", path.display())),
        }
        let kept = kept(folder, project).filter(|after| *after <= head);
        let cursor =
            Self { folder: folder.to_owned(), project: project.to_owned(), after: kept.unwrap_or(head), _lock: lock };
        // Kept at once: what ends from here on and cannot be sent is sent by whoever comes next.
        if kept.is_none() {
            cursor.keep()?;
        }
        Ok(Some(cursor))
    }

    /// Goes on to a later event, and keeps that.
    pub(super) fn advance(&mut self, after: u64) -> Result<(), String> {
        if after == self.after {
            return Ok(());
        }
        self.after = after;
        self.keep()
    }

    fn keep(&self) -> Result<(), String> {
        let path = self.folder.join(FILE);
        let failed = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        let text = format!("{}\n", json!({ "project": self.project, "after": self.after }));
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

/// The place that was kept. One of another ledger, or one that cannot be read, is none.
fn kept(folder: &Path, project: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join(FILE)).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    value["after"].as_u64().filter(|_| value["project"] == project)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_sends_and_the_next_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Cursor::take(folder.path(), "p", 7).unwrap().unwrap();
        assert_eq!((first.after, kept(folder.path(), "p")), (7, Some(7)));
        assert!(Cursor::take(folder.path(), "p", 9).unwrap().is_none());
        first.advance(9).unwrap();
        drop(first);
        assert_eq!(Cursor::take(folder.path(), "p", 12).unwrap().unwrap().after, 9);
        // Another ledger, or one that is shorter than what was kept, begins at its end.
        assert_eq!(Cursor::take(folder.path(), "q", 3).unwrap().unwrap().after, 3);
        assert_eq!(Cursor::take(folder.path(), "p", 5).unwrap().unwrap().after, 5);
        std::fs::write(folder.path().join(FILE), "{\"after\":").unwrap();
        assert_eq!(Cursor::take(folder.path(), "p", 12).unwrap().unwrap().after, 12);
    }
}
