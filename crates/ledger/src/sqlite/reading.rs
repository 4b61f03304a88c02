//! A file that may only be read: on a disk that was mounted so, in a folder of somebody else, on a medium that is kept.
//!
//! Reading is all that is done there, and nothing is left behind. Whoever wants to write is told why not.

use super::Sqlite;
use super::fault::unreadable;
use super::open::{self, BUSY, settle_reading};
use super::turn::Turn;
use crate::error::{Error, Result};
use crate::time::Clock;
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};

/// What lies beside a file under its name and an ending.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Why a file may only be read; nothing, if it may be written to, or is not even readable. A folder in which something would
/// have to be made belongs to it.
#[cfg(unix)]
pub(super) fn only_read(path: &Path) -> Option<String> {
    use rustix::fs::{Access, access};
    use rustix::io::Errno;
    let parts = ["-wal", "-shm", "-next", "-turn"].map(|end| beside(path, end));
    let folder = path.parent().filter(|_| parts.iter().any(|part| !part.exists()));
    let needed = parts.iter().map(PathBuf::as_path).filter(|part| part.exists()).chain(folder);
    for part in std::iter::once(path).chain(needed) {
        if let Err(errno @ (Errno::ROFS | Errno::ACCESS | Errno::PERM)) = access(part, Access::WRITE_OK) {
            let why = std::io::Error::from(errno);
            return Some(format!(
                "the ledger may only be read here: {} cannot be written to ({why}); nothing was written",
                part.display()
            ));
        }
    }
    None
}

#[cfg(not(unix))]
pub(super) fn only_read(_path: &Path) -> Option<String> {
    None
}

/// A way to read a file, by what lies beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// With the others that have it open, or had.
    Shared,
    /// There is a write-ahead log, and no memory to share with others. That is made anew for ourselves alone.
    Alone,
    /// There is nothing beside it. All that there is, is in the file.
    Bare,
}

impl Way {
    /// Which way a file can be read now. Whoever writes makes what they share first, so that the way then is another one.
    pub(super) fn to(path: &Path) -> Self {
        match (beside(path, "-wal").exists(), beside(path, "-shm").exists()) {
            (true, true) => Way::Shared,
            (true, false) => Way::Alone,
            (false, _) => Way::Bare,
        }
    }
}

/// Opens a file that may only be read.
pub(super) fn connect(path: &Path, way: Way) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match way {
        Way::Shared => Connection::open_with_flags(path, flags),
        // Locks are for those who share. To take the file for oneself is what spares the shared memory.
        Way::Alone => Connection::open_with_flags_and_vfs(path, flags, c"unix-none").and_then(|connection| {
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
            Ok(connection)
        }),
        Way::Bare => Connection::open_with_flags(unchanging(path)?, flags | OpenFlags::SQLITE_OPEN_URI),
    };
    let connection = opened.map_err(|error| unreadable(&error))?;
    connection.busy_timeout(BUSY).map_err(|error| unreadable(&error))?;
    settle_reading(&connection).map_err(|error| unreadable(&error))?;
    Ok(connection)
}

/// A file's name in the form in which SQLite can be told that it does not change.
fn unchanging(path: &Path) -> Result<String> {
    let Some(name) = path.to_str() else {
        return Err(Error::Unreadable(format!("{} is not named in UTF-8", path.display())));
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    let escaped = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    Ok(format!("file:{}?immutable=1", name.bytes().map(escaped).collect::<String>()))
}

impl Sqlite {
    /// Opens a file that may only be read.
    pub(super) fn open_to_read(path: &Path, clock: Clock, why: String, steps: &[&str]) -> Result<Self> {
        let way = Way::to(path);
        let connection = connect(path, way)?;
        match (open::format(&connection)?, steps.len() as u32) {
            (found, known) if found > known => return Err(Error::Newer { what: "format", found, known }),
            (found, known) if found < known => {
                return Err(Error::Unreadable(format!("it is of format {found} and must become {known} first; {why}")));
            }
            _ => {}
        }
        Ok(Self::with(path, clock, None, Turn::of_nobody(path), Some((why, way))))
    }

    /// A new connection, by what may be done now.
    pub(super) fn connect(&mut self) -> Result<Connection> {
        self.reading = only_read(&self.path).map(|why| (why, Way::to(&self.path)));
        match self.reading {
            Some((_, way)) => connect(&self.path, way),
            None => open::connect(&self.path),
        }
    }

    /// Refuses to write where one may only read. Whether that still is so is looked at each time.
    pub(super) fn must_be_writable(&mut self) -> Result<()> {
        if self.reading.is_none() {
            return Ok(());
        }
        self.connection = None;
        self.connection()?;
        match &self.reading {
            Some((why, _)) => Err(Error::Closed(why.clone())),
            None => {
                let unlocked = |error| Error::NotWritten(format!("the lock files cannot be opened: {error}"));
                self.turn = Turn::beside(&self.path).map_err(unlocked)?;
                Ok(())
            }
        }
    }

    /// Whether what was read can be wrong, because somebody began to write to what was thought to be nobody's.
    pub(super) fn was_disturbed(&self) -> bool {
        matches!(self.reading, Some((_, way)) if way != Way::Shared && way != Way::to(&self.path))
    }
}
