//! Bringing the write-ahead log into the file, beside the writer.
//!
//! To copy 16 MiB of pages and to sync the file takes longer than many commits, and no commit needs it. So a thread does it
//! while others are written. What they add meanwhile is little, and the writer brings it in, after which SQLite begins the
//! log anew. Where the thread does not keep up, the writer waits for it and does the rest: the log has a limit.
//!
//! A page that many commits change is copied once for all of them. In a long ledger each entity has the end of its history
//! in a page of its own, and a log of 8 MiB would be full before any of them is changed again.

use super::open;
use crate::ledger::lock;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// After how many pages of 4 KiB the write-ahead log is brought into the file: 16 MiB. Whoever opens a file that was left in
/// the middle of it reads all of it first, and who commits in the meantime waits for the disk that takes it.
const PAGES: i32 = 4096;
/// How many pages it has before the writer waits for that.
const PAGES_MAX: i32 = 2 * PAGES;

/// Keeps the log of a connection short, whatever commits through it. What fails is tried again after a later commit:
/// nothing is lost with it, since all that was committed is durable in the log.
pub(super) fn keep_short(connection: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    let path = path.to_owned();
    let mut helper: Option<Helper> = None;
    let hook = move |wal: &mut Wal, pages: i32| {
        if pages < PAGES {
            return Ok(());
        }
        if helper.is_none() {
            helper = Helper::start(path.clone());
        }
        let asked = helper.as_ref().map_or(Asked::Gone, |it| it.ask(pages));
        if asked == Asked::Gone {
            helper = None;
        }
        if asked != Asked::ToHelp {
            // As long as the thread is at it, this does nothing.
            drop(wal.checkpoint());
        }
        Ok(())
    };
    connection.wal_hook(Some(hook))
}

/// Keeps it no longer, and waits until whoever was at it is done.
pub(super) fn leave_alone(connection: &mut Connection) {
    // There is nothing that could fail, or that depends on it.
    let _ = connection.wal_hook(None::<fn(&mut Wal, i32) -> rusqlite::Result<()>>);
}

/// What came of asking the thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// It sees to it.
    ToHelp,
    /// It has done its part, or does not keep up: the rest is the writer's.
    Enough,
    /// It is not there.
    Gone,
}

/// The thread. It ends when this is dropped, after what it is at, which is waited for: while it copies, nobody else can empty
/// the log.
struct Helper {
    /// Something, until it is dropped.
    ask: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// It has brought in all that was there when it began.
    done: Arc<AtomicBool>,
    /// Locked while it is at it: as long, nobody else can bring anything in.
    at_it: Arc<Mutex<()>>,
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.ask = None;
        // One that broke off has nothing to say either.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Helper {
    fn start(path: PathBuf) -> Option<Self> {
        let (ask, asks) = sync_channel(1);
        let done = Arc::new(AtomicBool::new(false));
        let at_it = Arc::<Mutex<()>>::default();
        let (said, held) = (Arc::clone(&done), Arc::clone(&at_it));
        let work = move || help(&asks, &path, &said, &held);
        let thread = std::thread::Builder::new().name("ledger-log".to_owned()).spawn(work).ok()?;
        Some(Self { ask: Some(ask), thread: Some(thread), done, at_it })
    }

    fn ask(&self, pages: i32) -> Asked {
        if pages >= PAGES_MAX {
            drop(lock(&self.at_it));
            self.done.store(false, Ordering::SeqCst);
            return Asked::Enough;
        }
        if self.done.swap(false, Ordering::SeqCst) {
            return Asked::Enough;
        }
        match self.ask.as_ref().map(|ask| ask.try_send(())) {
            Some(Ok(()) | Err(TrySendError::Full(()))) => Asked::ToHelp,
            Some(Err(TrySendError::Disconnected(()))) | None => Asked::Gone,
        }
    }
}

fn help(asks: &Receiver<()>, path: &Path, done: &AtomicBool, at_it: &Mutex<()>) {
    let Ok(connection) = open::connect(path) else { return };
    while asks.recv().is_ok() {
        let _held = lock(at_it);
        let blocked = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(0));
        match blocked {
            Ok(blocked) => done.store(blocked == 0, Ordering::SeqCst),
            // What the connection has in memory may be wrong. The next one has another.
            Err(_) => return,
        }
        // Whoever asked meanwhile is told that it is done.
        let _ = asks.try_recv();
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn filled(folder: &Path, rounds: usize) -> (PathBuf, Connection) {
        let path = folder.join("ledger.db");
        drop(super::super::Sqlite::create(&path, crate::Clock::System).unwrap());
        let mut connection = open::connect(&path).unwrap();
        keep_short(&mut connection, &path).unwrap();
        connection.execute_batch("CREATE TABLE page (n INTEGER PRIMARY KEY, body BLOB)").unwrap();
        for round in 0..rounds {
            // A hundred pages each, over those of the tenth round before: the file is small, the log is not.
            let commit = connection.unchecked_transaction().unwrap();
            for page in 0..100 {
                let sql = "INSERT OR REPLACE INTO page VALUES (?1, zeroblob(4000))";
                commit.execute(sql, [((round % 10) * 100 + page) as i64]).unwrap();
            }
            commit.commit().unwrap();
        }
        (path, connection)
    }

    #[test]
    fn the_log_does_not_outgrow_its_limit_and_nothing_is_lost() {
        const FRAME: u64 = 4096 + 24;
        let folder = tempfile::tempdir().unwrap();
        let (path, connection) = filled(folder.path(), 3 * PAGES_MAX as usize / 200);
        let log = path.with_file_name("ledger.db-wal").metadata().unwrap().len();
        // One commit may come on top.
        assert!(log < (PAGES_MAX as u64 + 200) * FRAME, "{log} bytes");
        let count: i64 = connection.query_row("SELECT count(*) FROM page", [], |row| row.get(0)).unwrap();
        assert_eq!(count, 1000);
        let sound: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok");
    }

    #[test]
    fn the_thread_does_its_part_and_is_done_then() {
        let folder = tempfile::tempdir().unwrap();
        let (path, connection) = filled(folder.path(), 5);
        let helper = Helper::start(path).unwrap();
        assert!(helper.ask(PAGES) == Asked::ToHelp);
        while !helper.done.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(helper.ask(PAGES) == Asked::Enough);
        let in_file = connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| Ok(row.get::<_, i64>(1)? == row.get::<_, i64>(2)?));
        assert!(in_file.unwrap());
    }

    #[test]
    fn once_nobody_needs_the_thread_it_is_gone_and_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _connection) = filled(folder.path(), 15);
        let helper = Helper::start(path).unwrap();
        let done = Arc::clone(&helper.done);
        assert!(helper.ask(PAGES) == Asked::ToHelp);
        drop(helper);
        // What it was asked for was done, and nobody else knows of it any more.
        assert!(done.load(Ordering::SeqCst));
        assert_eq!(Arc::strong_count(&done), 1);
    }
}
