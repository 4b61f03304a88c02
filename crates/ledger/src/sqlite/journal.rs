//! Emptying the write-ahead log.

use super::{Sqlite, checkpoints, open};
use crate::error::Result;
use std::time::Duration;

/// How long a write-ahead log may be that is left behind by whoever wrote.
const LEFT_BEHIND_BYTES_MAX: u64 = 1024 * 1024;

impl Sqlite {
    /// Brings all of the write-ahead log into the file and empties it, unless somebody reads from it. It does not wait for
    /// them: it would wait in the writer's place.
    pub(super) fn empty_log(&mut self) -> Result<bool> {
        self.read(|connection| {
            connection.busy_timeout(Duration::ZERO)?;
            let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            connection.busy_timeout(open::BUSY)?;
            Ok(busy? == 0)
        })
    }

    /// Empties a long log that was written to here. Whoever opens the file when nobody has it open reads all of the log before
    /// the first answer, and that may be a hook that somebody waits for. Where others are at work, it is theirs to do.
    pub(super) fn leave_short(&mut self) {
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        let is_long = || std::fs::metadata(&log).is_ok_and(|found| found.len() > LEFT_BEHIND_BYTES_MAX);
        let Some(connection) = self.connection.as_mut().filter(|_| self.wrote && !self.doubtful && is_long()) else {
            return;
        };
        // Nobody who wants to write waits for whoever is at it.
        checkpoints::leave_alone(connection);
        if !self.turn.take_now() {
            return;
        }
        self.writing = true;
        // What cannot be emptied now stays as it is; nothing depends on it.
        let _ = self.empty_log();
        self.leave();
    }
}
