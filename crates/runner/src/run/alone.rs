//! One runner carries a run out at a time.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long is waited for a runner that is just ending: what it was about to start may still hold its files.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long is waited between tries.
const PAUSE: Duration = Duration::from_millis(20);

/// The right to carry a run out. It ends when this is dropped, and with the process, however that ends.
pub(super) struct Alone {
    _lock: File,
    path: PathBuf,
}

impl Alone {
    /// Takes it, unless another process has it.
    pub(super) fn of(spool: &Path, run: &str) -> Result<Self, String> {
        let path = spool.join("lock");
        let said = |error: std::io::Error| format!("the lock {} cannot be had: {error}", path.display());
        let lock = File::options().create(true).truncate(false).write(true).open(&path).map_err(said)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Self { _lock: lock, path }),
                Err(TryLockError::Error(error)) => return Err(said(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(format!(
                        "run {run} is being carried out by another process; wait for it, or stop it first"
                    ));
                }
            }
        }
    }

    /// The run has come to its end, and nobody needs the lock any more, nor the folder, unless something is kept in it.
    pub(super) fn end(self) {
        let _ = std::fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            let _ = std::fs::remove_dir(folder);
        }
    }
}
