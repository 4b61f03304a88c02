//! One at a time, across threads and processes.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long others are waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long is waited between tries.
const PAUSE: Duration = Duration::from_millis(2);

/// Waits for a lock. It ends when it is dropped, and with whoever holds it; the file stays and means nothing.
pub(crate) fn lock(path: &Path) -> Result<File, String> {
    let said = |error: std::io::Error| format!("the lock {} cannot be had: {error}", path.display());
    let file = opened(path).map_err(said)?;
    let until = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(said(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let seconds = PATIENCE.as_secs();
                return Err(format!("somebody else has held {} for {seconds} s; try again", path.display()));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
        }
    }
}

/// A lock that nobody has. None, if somebody has it, or it cannot be had.
pub(crate) fn lock_now(path: &Path) -> Option<File> {
    let file = opened(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

fn opened(path: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(path)
}
