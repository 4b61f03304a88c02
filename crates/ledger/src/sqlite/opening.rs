//! A store is opened, to write or only to read, and opened anew after an error.

use super::bell::Bell;
use super::blobs::Blobs;
use super::fault::{not_written, unreadable};
use super::reading::{self, Way};
use super::turn::Turn;
use super::{Sqlite, backup, checkpoints, open, take_turn};
use crate::error::{Error, Result};
use crate::ledger::PATIENCE;
use crate::time::Clock;
use rusqlite::Connection;
use std::path::Path;

impl Sqlite {
    /// Makes the file, which must not be there, and opens it.
    pub fn create(path: &Path, clock: Clock) -> Result<Self> {
        let unmade = |error| Error::NotWritten(format!("{} cannot be made: {error}", path.display()));
        let path = std::path::absolute(path).map_err(unmade)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        if let Some(why) = open::refused_place(folder) {
            return Err(Error::Closed(why));
        }
        backup::private_file(&path).map_err(unmade)?;
        let made = Self::open(&path, clock)?;
        // The file's name is durable only once the folder is.
        let synced = std::fs::File::open(folder).and_then(|it| it.sync_all());
        synced.map_err(|error| Error::NotWritten(format!("{} cannot be synced: {error}", folder.display())))?;
        Ok(made)
    }

    /// A store in a temporary file, for what can be made again: nothing is synced, and it goes when it is dropped.
    pub(crate) fn scratch() -> Result<Self> {
        let folder = tempfile::tempdir()
            .map_err(|error| Error::NotWritten(format!("no temporary folder can be made: {error}")))?;
        let mut scratch = Self::create(&folder.path().join("scratch.db"), Clock::System)?;
        let fast = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA secure_delete = OFF;";
        scratch.connection()?.execute_batch(fast).map_err(|error| not_written(&error))?;
        scratch._folder = Some(folder);
        Ok(scratch)
    }

    /// Opens a file that is there. One of an older format is brought up to date, after a copy was made.
    pub fn open(path: &Path, clock: Clock) -> Result<Self> {
        Self::open_as(path, clock, open::STEPS)
    }

    pub(super) fn open_as(path: &Path, clock: Clock, steps: &[&str]) -> Result<Self> {
        if !path.is_file() {
            return Err(Error::Unreadable(format!("there is no file {}", path.display())));
        }
        // What lies beside the file lies beside the real one, under whatever name it was opened.
        let path = path.canonicalize().map_err(|error| Error::Unreadable(format!("{}: {error}", path.display())))?;
        let path = path.as_path();
        if let Some(why) = path.parent().and_then(open::refused_place) {
            return Err(Error::Closed(why));
        }
        if let Some(why) = reading::only_read(path) {
            return Self::open_to_read(path, clock, why, steps);
        }
        let unlocked =
            |error| Error::Unreadable(format!("the lock files of {} cannot be opened: {error}", path.display()));
        let mut turn = Turn::beside(path).map_err(unlocked)?;
        // To give a new file its journal takes it for oneself, and SQLite does not wait for that: of many that find it new, one
        // after the other does.
        let new = !open::is_journaled(path);
        if new {
            take_turn(&mut turn, PATIENCE)?;
        }
        let connection = connect(path);
        if new {
            turn.leave();
        }
        let mut connection = connection?;
        if open::format(&connection)? != steps.len() as u32 {
            take_turn(&mut turn, PATIENCE)?;
            let upgraded = open::upgrade(&mut connection, path, steps);
            turn.leave();
            upgraded?;
        }
        Ok(Self::with(path, clock, Some(connection), turn, None))
    }

    /// Opens a file that may only be read.
    fn open_to_read(path: &Path, clock: Clock, why: String, steps: &[&str]) -> Result<Self> {
        let way = Way::to(path);
        let connection = reading::connect(path, way)?;
        match (open::format(&connection)?, steps.len() as u32) {
            (found, known) if found > known => return Err(Error::Newer { what: "format", found, known }),
            (found, known) if found < known => {
                return Err(Error::Unreadable(format!("it is of format {found} and must become {known} first; {why}")));
            }
            _ => {}
        }
        Ok(Self::with(path, clock, None, Turn::of_nobody(path), Some((why, way))))
    }

    pub(super) fn with(
        path: &Path,
        clock: Clock,
        connection: Option<Connection>,
        turn: Turn,
        reading: Option<(String, Way)>,
    ) -> Self {
        Self {
            path: path.to_owned(),
            clock,
            connection,
            turn,
            blobs: Blobs::beside(path),
            bell: Bell::beside(path),
            writing: false,
            wrote: false,
            doubtful: false,
            keeping: false,
            swept: false,
            reading,
            _folder: None,
        }
    }

    /// The connection, opened when it is first needed, and anew if an error closed it.
    pub(super) fn connection(&mut self) -> Result<&Connection> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(self.connection.insert(connection))
    }

    fn connect(&mut self) -> Result<Connection> {
        self.reading = reading::only_read(&self.path).map(|why| (why, Way::to(&self.path)));
        let connection = match self.reading {
            Some((_, way)) => reading::connect(&self.path, way),
            None => connect(&self.path),
        }?;
        // A newer program may have changed its format since it was first opened, and then it is not ours to use.
        match (open::format(&connection)?, open::STEPS.len() as u32) {
            (found, known) if found > known => Err(Error::Newer { what: "format", found, known }),
            _ => Ok(connection),
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

/// Opens the file, and keeps its write-ahead log short from here on.
fn connect(path: &Path) -> Result<Connection> {
    let mut connection = open::connect(path)?;
    checkpoints::keep_short(&mut connection, path).map_err(|error| unreadable(&error))?;
    Ok(connection)
}
