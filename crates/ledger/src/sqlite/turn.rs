//! Whose turn it is to write, among all threads and processes on one file.
//!
//! SQLite's own busy handler sleeps and tries again, so that whoever just wrote nearly always writes next. Two lock files
//! make a queue of it: who wants to write first takes `next`, then waits for `turn`, and lets go of `next` only when it has
//! that. A writer that is done must get `next` before it can take `turn` again, and there the one who waits already stands.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

pub(super) struct Turn {
    /// Nothing, where nobody may write.
    locks: Option<Locks>,
    next_path: PathBuf,
    turn_path: PathBuf,
}

struct Locks {
    next: File,
    turn: File,
}

impl Turn {
    /// The two lock files beside a database.
    pub(super) fn beside(database: &Path) -> io::Result<Self> {
        let Self { next_path, turn_path, .. } = Self::of_nobody(database);
        Self::at(next_path, turn_path)
    }

    /// The same where nobody may write: no files are made, and nobody's turn comes.
    pub(super) fn of_nobody(database: &Path) -> Self {
        let path = |end: &str| {
            let mut name = database.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        Self { locks: None, next_path: path("-next"), turn_path: path("-turn") }
    }

    fn at(next_path: PathBuf, turn_path: PathBuf) -> io::Result<Self> {
        let open = |path: &Path| OpenOptions::new().create(true).truncate(false).write(true).open(path);
        let locks = Some(Locks { next: open(&next_path)?, turn: open(&turn_path)? });
        Ok(Self { locks, next_path, turn_path })
    }

    fn locks(&self) -> io::Result<&Locks> {
        self.locks.as_ref().ok_or_else(|| io::ErrorKind::ReadOnlyFilesystem.into())
    }

    /// Waits for the turn. It ends with [`Turn::leave`], or with the process, however that ends.
    pub(super) fn take(&self) -> io::Result<()> {
        let Locks { next, turn } = self.locks()?;
        next.lock()?;
        let taken = turn.lock();
        let left = next.unlock();
        taken.and(left)
    }

    /// Waits for the turn for so long at most, in line with the others, and says whether it was had. There is no waiting for a
    /// lock with a limit: a thread waits without one, through locks of its own, and if it comes too late they go with it.
    pub(super) fn take_within(&mut self, patience: Duration) -> io::Result<bool> {
        if self.take_now() {
            return Ok(true);
        }
        let line = Self::at(self.next_path.clone(), self.turn_path.clone())?;
        let (answer, answered) = sync_channel(1);
        let wait = move || {
            let taken = line.take().map(|()| line);
            let _ = answer.send(taken);
        };
        std::thread::Builder::new().name("ledger-turn".to_owned()).spawn(wait)?;
        match answered.recv_timeout(patience) {
            Ok(taken) => taken.map(|line| *self = line).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Takes the turn if nobody has it and nobody waits for it.
    pub(super) fn take_now(&self) -> bool {
        let Ok(Locks { next, turn }) = self.locks() else { return false };
        if next.try_lock().is_err() {
            return false;
        }
        let taken = turn.try_lock().is_ok();
        let _ = next.unlock();
        taken
    }

    /// Whether somebody stands in line.
    pub(super) fn is_awaited(&self) -> bool {
        let Ok(Locks { next, .. }) = self.locks() else { return false };
        let is_free = next.try_lock().is_ok();
        if is_free {
            let _ = next.unlock();
        }
        !is_free
    }

    pub(super) fn leave(&self) {
        // A lock that cannot be given back goes with the file handle.
        let _ = self.locks().and_then(|locks| locks.turn.unlock());
    }

    /// The process that has the turn, or else the one that is next and does not take it, where the system tells.
    pub(super) fn holder(&self) -> Option<String> {
        holder(&self.turn_path).or_else(|| holder(&self.next_path))
    }
}

#[cfg(target_os = "linux")]
fn holder(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let inode = std::fs::metadata(path).ok()?.ino().to_string();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF; who waits has an arrow after the number.
    let held = |line: &&str| {
        !line.contains("->") && line.split_whitespace().nth(5).is_some_and(|it| it.rsplit(':').next() == Some(&inode))
    };
    let pid = locks.lines().find(held)?.split_whitespace().nth(4)?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let stopped = status.lines().any(|line| line.starts_with("State:\tT"));
    Some(format!("process {pid} {}{}", name.trim(), if stopped { ", which is stopped" } else { "" }).replace("  ", " "))
}

#[cfg(not(target_os = "linux"))]
fn holder(_path: &Path) -> Option<String> {
    None
}
