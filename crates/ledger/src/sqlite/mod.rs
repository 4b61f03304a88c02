//! A store in one SQLite file, shared by the threads and processes of a machine.
//!
//! ```text
//! ledger.db  ledger.db-wal  ledger.db-shm     SQLite's own
//! ledger.db-next  ledger.db-turn              whose turn it is to write
//! ledger.db-bell                              touched after each commit
//! ledger.db-blobs/ab/cdef…                    texts over 64 KiB
//! ledger.db-blobs/.writing                    those whose commit is on its way
//! ```

mod backup;
mod bell;
mod blobs;
mod checkpoints;
mod fault;
#[cfg(test)]
mod healing;
mod journal;
mod log;
mod open;
mod opening;
mod reading;
mod rows;
mod stray;
mod turn;

use crate::erasure;
use crate::error::{Error, Result};
use crate::event::INLINE_BYTES_MAX;
use crate::hash::Hash;
use crate::ledger::PATIENCE;
use crate::rows::{EventRow, Row, RowKey, RowValue, Table, TextRow};
use crate::store::{Batch, Begun, Head, NOT_KEPT, Store};
use crate::time::{Clock, Time};
use bell::Bell;
use blobs::Blobs;
use fault::{not_written, reason, unreadable};
use reading::Way;
use rows::{number, unsigned};
use rusqlite::{Connection, ErrorCode, OptionalExtension};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use turn::Turn;

/// How long to try to empty the write-ahead log, and how long others may write between two attempts.
const SCRUB_MAX: Duration = Duration::from_secs(10);
const SCRUB_PAUSE: Duration = Duration::from_millis(20);

/// Rows in a SQLite file.
pub struct Sqlite {
    path: PathBuf,
    clock: Clock,
    connection: Option<Connection>,
    turn: Turn,
    blobs: Blobs,
    bell: Bell,
    writing: bool,
    /// Whether something was committed here.
    wrote: bool,
    /// A commit gave no clear answer, and its pages may still lie in the write-ahead log.
    doubtful: bool,
    /// Files of long texts were written, and their commit has not come yet.
    keeping: bool,
    /// It was seen to that no files are left of a commit that broke off before.
    swept: bool,
    /// Why it may only be read, if so, and the way in which that is done.
    reading: Option<(String, Way)>,
    /// A temporary folder that is removed with the store.
    _folder: Option<tempfile::TempDir>,
}

impl Sqlite {
    /// Reads something. After an error the connection is not used again, since what it has in memory may be wrong.
    fn read<T>(&mut self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let answer = read(self.connection()?);
        if self.was_disturbed() {
            self.connection = None;
            return Err(Error::Away("somebody began to write to it just now; try again".to_owned()));
        }
        answer.map_err(|error| {
            if !self.writing {
                self.connection = None;
            }
            unreadable(&error)
        })
    }

    fn begin_in_turn(&mut self) -> Result<Begun> {
        let doubtful = self.doubtful;
        let connection = self.connection()?;
        if doubtful {
            // What a failed commit left in the write-ahead log must not come back later. Once all of the log is in the
            // file and the log is empty, what is there is there for good, and what is not will never be.
            let busy: i64 = connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
                .map_err(|error| not_written(&error))?;
            if busy != 0 {
                return Err(Error::NotWritten(
                    "another process reads and keeps the journal from being cleared".to_owned(),
                ));
            }
            self.doubtful = false;
        }
        if !self.swept {
            self.sweep_after_a_break();
        }
        let begun = self.begin_where_it_ends()?;
        let connection = self.connection()?;
        open::still_fits(connection)?;
        let meta = log::meta(connection).map_err(|error| not_written(&error))?;
        Ok(Begun { meta, ..begun })
    }

    /// Begins a transaction at the end of the log, without a look at what the file is.
    fn begin_where_it_ends(&mut self) -> Result<Begun> {
        let connection = self.connection()?;
        let head = prepared(connection, "BEGIN IMMEDIATE").and_then(|()| log::head(connection));
        let head = head.map_err(|error| not_written(&error))?;
        Ok(Begun { head, now: self.clock.now()?, meta: Vec::new() })
    }

    fn leave(&mut self) {
        if std::mem::take(&mut self.writing) {
            self.turn.leave();
        }
    }

    /// Ends a transaction that failed. The next one gets another connection: SQLite keeps to a file that it could once open
    /// for reading only, or whose journal it could not open, for as long as the connection lives.
    fn give_up(&mut self) {
        self.rollback();
        self.connection = None;
    }

    fn write_batch(&mut self, connection: &Connection, batch: &Batch) -> Result<()> {
        for row in &batch.texts {
            self.write_text(connection, row)?;
        }
        log::write(connection, batch).map_err(|error| not_written(&error))
    }

    fn write_text(&mut self, connection: &Connection, row: &TextRow) -> Result<()> {
        let (salt, body, blob) = match &row.text {
            Some(text) if text.body.len() > INLINE_BYTES_MAX => {
                let hash = text.hash();
                self.keep_blob(&hash, &text.body).map_err(|error| unkept(&self.blobs.path(&hash), &error))?;
                (Some(text.salt.as_slice()), None, Some(hash.0))
            }
            Some(text) => (Some(text.salt.as_slice()), Some(text.body.as_slice()), None),
            None => (None, None, None),
        };
        let sql = "INSERT INTO text (seq, n, salt, body, blob) VALUES (?1, ?2, ?3, ?4, ?5)";
        let mut insert = connection.prepare_cached(sql).map_err(|error| not_written(&error))?;
        let values = rusqlite::params![number(row.seq), row.n, salt, body, blob.as_ref().map(|it| it.as_slice())];
        insert.execute(values).map(drop).map_err(|error| not_written(&error))
    }

    fn keep_blob(&mut self, hash: &Hash, body: &[u8]) -> std::io::Result<()> {
        if !std::mem::replace(&mut self.keeping, true) && !self.blobs.on_their_way().is_empty() {
            // Somebody else has broken off since it was last looked.
            self.swept = false;
        }
        self.blobs.announce(hash)?;
        self.blobs.keep(hash, body)
    }

    /// Waits for the writer's place for so long at most.
    fn take_turn(&mut self, patience: Duration) -> Result<()> {
        self.must_be_writable()?;
        self.writing = take_turn(&mut self.turn, patience)?;
        Ok(())
    }

    /// Does something in the writer's place, without a transaction.
    fn in_turn<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.take_turn(PATIENCE)?;
        let done = work(self);
        self.leave();
        done
    }
}

/// What is said of a long text that could not be written. The name of a file on its way there is nobody's business.
fn unkept(path: &Path, error: &std::io::Error) -> Error {
    let why = match (error.kind(), error.raw_os_error()) {
        (std::io::ErrorKind::StorageFull, _) => "the disk is full; make room and try again".to_owned(),
        (_, Some(_)) => error.to_string(),
        (kind, None) => kind.to_string(),
    };
    Error::NotWritten(format!("a long text cannot be written to {}: {why}", path.display()))
}

/// Runs a statement of every commit, which is prepared once.
fn prepared(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Reads several things from one state of the file. Each statement by itself would take and give back locks of its own.
fn together<T>(connection: &Connection, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    if !connection.is_autocommit() {
        return read(connection);
    }
    prepared(connection, "BEGIN")?;
    let answer = read(connection).and_then(|answer| prepared(connection, "COMMIT").map(|()| answer));
    answer.inspect_err(|_| drop(connection.execute_batch("ROLLBACK")))
}

fn take_turn(turn: &mut Turn, patience: Duration) -> Result<bool> {
    match turn.take_within(patience) {
        Ok(true) => Ok(true),
        Ok(false) => Err(Error::busy(patience, turn.holder())),
        Err(error) => Err(Error::NotWritten(format!("the writer's place cannot be had: {error}"))),
    }
}

impl Store for Sqlite {
    fn begin(&mut self) -> Result<Begun> {
        self.rollback();
        self.must_be_writable()?;
        self.turn.take().map_err(|error| Error::NotWritten(format!("the writer's place cannot be had: {error}")))?;
        self.writing = true;
        self.begin_in_turn().inspect_err(|_| self.give_up())
    }

    fn begin_within(&mut self, patience: Duration) -> Result<Begun> {
        self.rollback();
        self.take_turn(patience)?;
        self.begin_in_turn().inspect_err(|_| self.give_up())
    }

    fn begin_now(&mut self) -> Result<Option<Begun>> {
        self.rollback();
        self.must_be_writable()?;
        // What a failed commit left is seen to in line, since that can take long.
        if self.doubtful || !self.turn.take_now() {
            return Ok(None);
        }
        self.writing = true;
        self.begin_in_turn().inspect_err(|_| self.give_up()).map(Some)
    }

    fn writes_beside(&self) -> bool {
        true
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        let Some(connection) = self.connection.take_if(|it| !it.is_autocommit()) else {
            return Err(Error::NotWritten("no transaction was begun".to_owned()));
        };
        let written = self.write_batch(&connection, batch);
        self.connection = Some(connection);
        written.inspect_err(|_| self.give_up())
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        let cleared = self.connection()?.execute(&format!("DELETE FROM {}", table.name()), []);
        cleared.map(drop).map_err(|error| not_written(&error)).inspect_err(|_| self.give_up())
    }

    fn clock(&self) -> Option<Time> {
        self.clock.now().ok()
    }

    fn commit(&mut self) -> Result<()> {
        self.commit_and_stay()?;
        self.leave();
        Ok(())
    }

    fn commit_and_stay(&mut self) -> Result<()> {
        let Some(connection) = self.connection.as_ref().filter(|it| !it.is_autocommit()) else {
            self.leave();
            return Err(Error::NotWritten("no transaction was begun".to_owned()));
        };
        if let Err(error) = prepared(connection, "COMMIT") {
            // There was no room for all of the frames. The last of them is the one that makes a commit of them, and it is
            // written in full before anything is synced; nothing can come back. To clear the journal would take room, too.
            if error.sqlite_error_code() == Some(ErrorCode::DiskFull) {
                self.give_up();
                return Err(not_written(&error));
            }
            self.doubtful = true;
            self.give_up();
            return Err(Error::Unknown(reason(&error)));
        }
        self.wrote = true;
        // Where others' are listed as well, the next who begins tells which of them have come.
        if std::mem::take(&mut self.keeping) && self.swept {
            self.blobs.arrived();
        }
        Ok(())
    }

    fn begin_next(&mut self) -> Result<Begun> {
        if !self.writing {
            return Err(Error::NotWritten(NOT_KEPT.to_owned()));
        }
        // Who changes the format or a setting needs the place that was kept.
        self.begin_where_it_ends().inspect_err(|_| self.give_up())
    }

    fn is_awaited(&mut self) -> bool {
        self.turn.is_awaited()
    }

    fn rollback(&mut self) {
        if std::mem::take(&mut self.keeping) {
            // Its files are left over.
            self.swept = false;
        }
        if let Some(connection) = self.connection.take_if(|it| !it.is_autocommit()) {
            // A connection that cannot even do that is not used again.
            if connection.execute_batch("ROLLBACK").is_ok() {
                self.connection = Some(connection);
            }
        }
        self.leave();
    }

    fn settle(&mut self) {
        self.bell.ring();
    }

    fn get(&mut self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        self.read(|connection| match keys {
            [_] => rows::get(connection, keys),
            _ => together(connection, |connection| rows::get(connection, keys)),
        })
    }

    fn range(&mut self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        self.read(|connection| rows::range(connection, from, to, limit))
    }

    fn head(&mut self) -> Result<Head> {
        self.read(log::head).map_err(|error| match error {
            Error::Damaged(why) => Error::Damaged(format!("the last event cannot be read: {why}")),
            error => error,
        })
    }

    fn events(&mut self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>> {
        let Some(run) = run else { return self.events_within(from, limit, u64::MAX) };
        let limit = number(limit.min(i32::MAX as usize) as u64);
        self.read(|connection| {
            let sql = "SELECT seq, id, run, hash, body FROM event WHERE run = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3";
            connection.prepare_cached(sql)?.query_map((run, number(from), limit), log::event)?.collect()
        })
    }

    /// Here it can be seen while reading that the next event is too much.
    fn events_within(&mut self, from: u64, limit: usize, bytes_max: u64) -> Result<Vec<EventRow>> {
        let most = number(limit.min(i32::MAX as usize) as u64);
        self.read(|connection| {
            let sql = "SELECT seq, id, run, hash, body FROM event WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
            let mut select = connection.prepare_cached(sql)?;
            let mut rows = select.query((number(from), most))?;
            let (mut events, mut bytes) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                bytes += row.get_ref(4)?.as_bytes().map_or(0, <[u8]>::len) as u64;
                if bytes > bytes_max && !events.is_empty() {
                    break;
                }
                events.push(log::event(row)?);
            }
            Ok(events)
        })
    }

    fn find(&mut self, id: &str) -> Result<Option<u64>> {
        self.read(|connection| {
            let mut by_id = connection.prepare_cached("SELECT seq FROM event WHERE id = ?1")?;
            by_id.query_row([id], |row| unsigned(row, 0)).optional()
        })
    }

    fn texts(&mut self, from: u64, to: u64) -> Result<Vec<TextRow>> {
        type Found = (u64, u32, Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>);
        let found: Vec<Found> = self.read(|connection| {
            let sql = "SELECT seq, n, salt, body, blob FROM text WHERE seq >= ?1 AND seq < ?2 ORDER BY seq, n";
            let mut select = connection.prepare_cached(sql)?;
            let read =
                |row: &rusqlite::Row<'_>| Ok((unsigned(row, 0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
            select.query_map((number(from), number(to)), read)?.collect()
        })?;
        let row = |(seq, n, salt, body, blob): Found| {
            let damaged = |why: &str| Error::Damaged(format!("text {n} of event {seq} {why}"));
            let body = match (body, blob) {
                (Some(body), None) => Some(body),
                (None, Some(hash)) => {
                    let hash: [u8; 32] =
                        hash.try_into().map_err(|_| damaged("is in a file that is named by no hash"))?;
                    let hash = Hash(hash);
                    Some(self.blobs.read(&hash).map_err(|error| {
                        damaged(&format!("is not in {}: {error}", self.blobs.path(&hash).display()))
                    })?)
                }
                (None, None) => None,
                (Some(_), Some(_)) => return Err(damaged("is both in the table and in a file")),
            };
            TextRow::of_columns(seq, n, salt.as_deref(), body)
        };
        found.into_iter().map(row).collect()
    }

    fn sizes(&mut self, from: u64, limit: usize) -> Result<Vec<u64>> {
        let limit = number(limit.min(i32::MAX as usize) as u64);
        let mut sizes: BTreeMap<u64, u64> = self.read(|connection| {
            let sql = "SELECT seq, octet_length(body) FROM event WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
            let mut select = connection.prepare_cached(sql)?;
            select.query_map((number(from), limit), |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?.collect()
        })?;
        let last = sizes.keys().next_back().copied().unwrap_or(0);
        let texts: Vec<(u64, u64, Option<Vec<u8>>)> = self.read(|connection| {
            let sql = "SELECT seq, coalesce(octet_length(body), 0), blob FROM text WHERE seq >= ?1 AND seq <= ?2";
            let mut select = connection.prepare_cached(sql)?;
            let read = |row: &rusqlite::Row<'_>| Ok((unsigned(row, 0)?, unsigned(row, 1)?, row.get(2)?));
            select.query_map((number(from), number(last)), read)?.collect()
        })?;
        for (seq, inline, blob) in texts {
            // A file that is missing, or has no name, is found when it is read.
            let hash = blob.and_then(|hash| hash.try_into().ok()).map(Hash);
            let long = hash.and_then(|hash| self.blobs.path(&hash).metadata().ok()).map_or(0, |it| it.len());
            if let Some(size) = sizes.get_mut(&seq) {
                *size += inline + long;
            }
        }
        Ok(sizes.into_values().collect())
    }

    fn another(&self) -> Result<Box<dyn Store>> {
        if self.reading.is_some() {
            return Ok(Box::new(Self::open(&self.path, self.clock.clone())?));
        }
        // Its connection is opened when it is first needed.
        let unlocked = |error| Error::Unreadable(format!("the lock files of the ledger cannot be opened: {error}"));
        let turn = Turn::beside(&self.path).map_err(unlocked)?;
        Ok(Box::new(Self::with(&self.path, self.clock.clone(), None, turn, None)))
    }

    fn wait(&mut self, seq: u64, patience: Duration) -> Result<Head> {
        let until = Instant::now() + patience;
        if self.reading.is_none() {
            self.bell.listen();
        }
        loop {
            let head = self.head()?;
            let left = until.saturating_duration_since(Instant::now());
            if head.seq > seq || left.is_zero() {
                return Ok(head);
            }
            self.bell.hear(left.min(Duration::from_secs(1)));
        }
    }

    /// As long as one connection of a process was opened for reading only, all of them are.
    fn rest(&mut self) {
        if self.reading.is_some() {
            self.connection = None;
        }
    }

    fn scrub(&mut self) -> Result<()> {
        self.rollback();
        let mark = erasure::mark(self)?;
        let until = Instant::now() + SCRUB_MAX;
        // A file goes once all that was committed is in the database for good, in the same turn: as long as something lies in the
        // log alone, a commit that gave no clear answer may still come or be undone, and with it what names the file. Whoever
        // began to read before keeps the log from being emptied. Between two attempts others may write.
        while !self.in_turn(Self::sweep_behind_the_log)? {
            if Instant::now() >= until {
                let why =
                    "another process reads, and keeps a copy in the journal; end it and run `countersign doctor --fix`";
                return Err(Error::NotWritten(why.to_owned()));
            }
            std::thread::sleep(SCRUB_PAUSE);
        }
        if mark.is_some() {
            erasure::unmark(self, mark)?;
            // All that is in the log now is that the mark is gone.
            let _ = self.in_turn(Self::empty_log);
        }
        Ok(())
    }

    fn backup(&mut self, to: &Path) -> Result<()> {
        self.connection()?;
        let Some(connection) = &self.connection else { return Err(Error::Unreadable("it was closed".to_owned())) };
        backup::backup(connection, &self.blobs, to)
    }

    fn writer(&self) -> Option<String> {
        self.turn.holder()
    }

    fn examine(&mut self) -> Result<Vec<String>> {
        let mut faults = open::schema_faults(self.connection()?)?;
        faults.extend(self.read(open::hidden_faults)?);
        let checked = self.read(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(20)")?;
            check.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        })?;
        faults.extend(checked.into_iter().filter(|line| line != "ok").map(|line| format!("SQLite finds: {line}")));
        faults.extend(self.misplaced_texts()?);
        let stray = self.stray_blobs()?;
        // What an erasure has not removed yet is no more than that.
        let unfinished = erasure::fault(self);
        let why = "is a long text that no event names any more; `countersign doctor --fix` removes it";
        let strays = stray.into_iter().filter(|_| unfinished.is_none()).map(|path| format!("{} {why}", path.display()));
        faults.extend(strays);
        faults.extend(unfinished);
        Ok(faults)
    }

    fn describe(&mut self) -> Result<Vec<(String, String)>> {
        let path = self.path.display().to_string();
        let connection = self.connection()?;
        let format = open::format(connection)?;
        let durability = match &self.reading {
            Some((why, _)) => why.clone(),
            None => open::held(self.connection()?).map(|()| "WAL, synchronous FULL, secure_delete".to_owned())?,
        };
        let version = rusqlite::version();
        let pages = self.read(|it| it.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0)))?;
        let line = |name: &str, value: String| (name.to_owned(), value);
        Ok(vec![
            line("store", format!("SQLite {version}, {path}")),
            line("format", format.to_string()),
            line("durability", durability),
            line("size", format!("{} KiB", pages * 4)),
        ])
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.rollback();
        self.leave_short();
    }
}
