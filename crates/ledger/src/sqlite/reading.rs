//! A file that may only be read: on a disk that was mounted so, in a folder of somebody else, on a medium that is kept.
//!
//! Reading is all that is done there, and nothing is left behind. Whoever wants to write is told why not.

use super::fault::unopened;
use super::open::{BUSY, settle_reading};
use crate::error::{Error, Result};
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

/// Whether a file and what lies beside it may be read, as far as that can be asked without opening any of it.
#[cfg(unix)]
pub(super) fn may_read(path: &Path) -> std::io::Result<()> {
    use rustix::fs::{Access, access};
    let parts = ["-wal", "-shm"].map(|end| beside(path, end));
    let there = parts.iter().map(PathBuf::as_path).filter(|part| part.exists());
    std::iter::once(path).chain(there).try_for_each(|part| Ok(access(part, Access::READ_OK)?))
}

#[cfg(not(unix))]
pub(super) fn may_read(path: &Path) -> std::io::Result<()> {
    path.metadata().map(drop)
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
    let unopened = |error| unopened(path, &error);
    let connection = opened.map_err(unopened)?;
    connection.busy_timeout(BUSY).map_err(unopened)?;
    settle_reading(&connection).map_err(unopened)?;
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
