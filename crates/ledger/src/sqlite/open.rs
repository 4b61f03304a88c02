//! Opening the file: with the settings that make its promises true, or not at all.

use crate::error::{Error, Result};
use crate::sqlite::unreadable;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The steps that lead from an empty file to the present format; the format is their number. A step is never changed.
pub(super) const STEPS: &[&str] = &[include_str!("steps/0001.sql"), include_str!("steps/0002.sql")];
/// What marks the file as ours: "CSSG".
const APPLICATION: i32 = 0x4353_5347;
/// How long to wait for other programs on the file. Our own writers queue elsewhere.
pub(super) const BUSY: Duration = Duration::from_secs(5);
/// How much of the file is kept in memory, in KiB.
const CACHE_KIB: i32 = 4 * 1024;

/// Whether a file has its write-ahead log. One that cannot be read has none. SQLite is asked, and the file never opened beside
/// it: a file that is closed takes the locks with it that this process has on it, and SQLite's would be gone unnoticed.
pub(super) fn is_journaled(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if Path::new(&log).exists() {
        return true;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mode = Connection::open_with_flags(path, flags)
        .and_then(|connection| connection.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)));
    mode.is_ok_and(|mode| mode == "wal")
}

/// Opens a ledger's file.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let unopened = |error| super::fault::unopened(path, &error);
    let connection = Connection::open_with_flags(path, flags).map_err(unopened)?;
    settle(&connection).map_err(unopened)?;
    held(&connection)?;
    may_write(&connection).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen) => Error::NotWritten(super::fault::reason_at(path, &error)),
        _ => super::not_written(&error),
    })?;
    Ok(connection)
}

/// Makes sure that the file and its shared memory were opened for writing. Where SQLite cannot do that, it opens them for
/// reading, and all connections of a process share that until the last of them is closed: one open that failed would keep
/// the process from writing for as long as it lives.
fn may_write(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let begun = connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
    connection.busy_timeout(BUSY)?;
    match begun {
        // Somebody writes, which is asked for only after it is known that one may.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        begun => begun,
    }
}

/// What a connection needs that only reads.
pub(super) fn settle_reading(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Each statement is planned once. Otherwise SQLite plans a range anew whenever other values are bound to it, which takes
    // longer than to read what is there, and the plan would be the same.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    settle_reading(connection)
}

/// What the settings are, as SQLite says, and whether that is what the promises need.
pub(super) fn held(connection: &Connection) -> Result<()> {
    let ask = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
    let needed = [("journal_mode", "wal"), ("synchronous", "2"), ("secure_delete", "1")];
    for (name, needed) in needed {
        let got = match ask(name).map_err(|error| unreadable(&error))? {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Integer(number) => number.to_string(),
            _ => String::new(),
        };
        if got != needed {
            return Err(Error::Unreadable(format!(
                "SQLite's {name} is {got} and must be {needed}; without it what was acknowledged could be lost"
            )));
        }
    }
    Ok(())
}

/// The format of a file; 0 if it is empty.
pub(super) fn format(connection: &Connection) -> Result<u32> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let read =
        || Ok::<_, rusqlite::Error>((number("application_id")?, number("user_version")?, number("schema_version")?));
    match read().map_err(|error| unreadable(&error))? {
        // Both are set in one commit, with the first step.
        (APPLICATION, format, _) => match u32::try_from(format) {
            Ok(format) if format > 0 => Ok(format),
            _ => Err(Error::Damaged(format!("the file says that it is of format {format}, which there never was"))),
        },
        (0, 0, 0) => Ok(0),
        _ => Err(Error::Unreadable("the file is a database of another program".to_owned())),
    }
}

/// Whether the file is still of the format that this binary writes: another may have brought it up to date since it was
/// opened.
pub(super) fn still_fits(connection: &Connection) -> Result<()> {
    let ask = || connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get::<_, u32>(0));
    match ask().map_err(|error| super::not_written(&error))? {
        found if found > STEPS.len() as u32 => Err(Error::Newer { what: "format", found, known: STEPS.len() as u32 }),
        _ => Ok(()),
    }
}

/// Brings a file up to the format that `steps` lead to. One that has something in it is copied first; the copy's path
/// is given back. A file of a newer format is refused.
pub(super) fn upgrade(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<Option<PathBuf>> {
    let found = format(connection)?;
    let known = steps.len() as u32;
    if found > known {
        return Err(Error::Newer { what: "format", found, known });
    }
    if found == known {
        return Ok(None);
    }
    let copy = if found == 0 { None } else { Some(copy_first(connection, path, found)?) };
    let mut climb = || {
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have been here first.
        let done: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        for step in steps.iter().skip(done as usize) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", known)?;
        transaction.commit()
    };
    climb().map_err(|error| super::not_written(&error))?;
    Ok(copy)
}

fn copy_first(connection: &Connection, path: &Path, format: u32) -> Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".format-{format}"));
    let copy = PathBuf::from(name);
    // A copy of an earlier attempt that did not come to its end is of the same format, and is made again.
    let _ = std::fs::remove_file(&copy);
    super::backup::copy_to(connection, &copy)?;
    // It is no copy to fall back on before it and its name are durable.
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = [copy.as_path(), folder].into_iter().try_for_each(|it| std::fs::File::open(it)?.sync_all());
    synced.map_err(|error| Error::NotWritten(format!("{} cannot be synced: {error}", copy.display())))?;
    Ok(copy)
}

/// How the schema differs from the one that the steps make: a trigger or a column that somebody added by hand is as good
/// a way to change what is recorded as any.
pub(super) fn schema_faults(connection: &Connection) -> Result<Vec<String>> {
    type Parts = std::collections::BTreeMap<(String, String), String>;
    let parts = |connection: &Connection| -> rusqlite::Result<Parts> {
        let mut all = connection.prepare("SELECT type, name, coalesce(sql, '') FROM sqlite_schema")?;
        all.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?.collect()
    };
    let made = || {
        let model = Connection::open_in_memory()?;
        STEPS.iter().try_for_each(|step| model.execute_batch(step))?;
        Ok((parts(&model)?, parts(connection)?))
    };
    let (expected, found) = made().map_err(|error: rusqlite::Error| unreadable(&error))?;
    let mut faults = Vec::new();
    for ((kind, name), sql) in &found {
        match expected.get(&(kind.clone(), name.clone())) {
            None => faults.push(format!("the file has a {kind} `{name}` that does not belong there")),
            Some(known) if known != sql => faults.push(format!("the {kind} `{name}` is not declared as it was made")),
            Some(_) => {}
        }
    }
    let missing = expected.keys().filter(|part| !found.contains_key(*part));
    faults.extend(missing.map(|(kind, name)| format!("the {kind} `{name}` is missing")));
    Ok(faults)
}

/// Rows that nobody would ever come by, since everything begins with event 1 and level 0, and stretches end before the last number.
pub(super) fn hidden_faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let hidden = [
        ("event", "seq", "SELECT seq FROM event WHERE seq < 1 LIMIT 1"),
        ("text", "seq", "SELECT seq FROM text WHERE seq < 1 OR seq = 9223372036854775807 LIMIT 1"),
        ("touch", "seq", "SELECT seq FROM touch WHERE seq < 1 LIMIT 1"),
        ("tile", "number", "SELECT min(level, number) FROM tile WHERE level < 0 OR number < 0 LIMIT 1"),
    ];
    let mut faults = Vec::new();
    for (table, column, sql) in hidden {
        if let Some(found) = connection.query_row(sql, [], |row| row.get::<_, i64>(0)).optional()? {
            faults.push(format!("the table `{table}` has a row whose {column} is {found}, where nothing can be"));
        }
    }
    Ok(faults)
}

/// Why a file may not lie in a folder; nothing, if it may. Locks and shared memory do not hold on network file systems.
#[cfg(target_os = "linux")]
pub(super) fn refused_place(folder: &Path) -> Option<String> {
    let kind = rustix::fs::statfs(folder).ok()?.f_type as u64 & 0xffff_ffff;
    let name = match kind {
        0x6969 => "NFS",
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => "SMB",
        0x0102_1997 => "9p",
        0x5346_414f => "AFS",
        0x00c3_6400 => "Ceph",
        0x0bd0_0bd0 => "Lustre",
        _ => return None,
    };
    Some(format!(
        "{} lies on a network file system ({name}), where locks do not hold; use a local folder, or postgres://",
        folder.display()
    ))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn refused_place(_folder: &Path) -> Option<String> {
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use crate::rows::EventRow;
    use crate::sqlite::Sqlite;
    use crate::store::{Batch, Store};
    use crate::time::Clock;

    /// What the next format could be.
    const NEXT: &[&str] = &[STEPS[0], STEPS[1], "ALTER TABLE meta ADD COLUMN note TEXT;"];
    const NOW: u32 = STEPS.len() as u32;
    const THEN: u32 = NEXT.len() as u32;

    fn made(folder: &Path) -> PathBuf {
        let path = folder.join("ledger.db");
        let mut store = Sqlite::create(&path, Clock::System).unwrap();
        let hash = Hash::of(b"body");
        let event = EventRow { seq: 1, id: "id-1".to_owned(), run: None, hash, body: "body".to_owned() };
        store.begin().unwrap();
        store.apply(&Batch { events: vec![event], ..Batch::default() }).unwrap();
        store.commit().unwrap();
        path
    }

    fn open_next(path: &Path) -> Result<Sqlite> {
        Sqlite::open_as(path, Clock::System, NEXT)
    }

    fn format_of(path: &Path) -> u32 {
        format(&Connection::open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_file_of_an_older_format_is_copied_and_then_brought_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let copy = folder.path().join(format!("ledger.db.format-{NOW}"));
        // What an attempt that broke off left behind is made anew.
        std::fs::write(&copy, "half a copy").unwrap();
        let mut upgraded = open_next(&path).unwrap();
        let head = upgraded.head().unwrap();
        assert_eq!((head.seq, format_of(&path)), (1, THEN));
        let mut old = Sqlite::open(&copy, Clock::System).unwrap();
        assert_eq!((old.head().unwrap(), format_of(&copy)), (head, NOW));
        assert_eq!(old.examine().unwrap(), Vec::<String>::new());
        // The next time there is nothing to do, and no copy to be made.
        drop((upgraded, old));
        std::fs::remove_file(&copy).unwrap();
        open_next(&path).unwrap();
        assert!(!copy.exists());
    }

    #[test]
    fn a_file_of_a_newer_format_is_refused_with_both_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let mut there = Sqlite::open(&path, Clock::System).unwrap();
        open_next(&path).unwrap();
        let before = std::fs::read(&path).unwrap();
        // Also one that was there all the while.
        assert_eq!(there.begin().map(drop), Err(Error::Newer { what: "format", found: THEN, known: NOW }));
        let refused = Sqlite::open(&path, Clock::System).map(drop).unwrap_err();
        assert_eq!(refused, Error::Newer { what: "format", found: THEN, known: NOW });
        let (said, [found, known]) = (refused.to_string(), [format!("format {THEN}"), format!("knows {NOW}")]);
        assert!(said.contains(&found) && said.contains(&known), "{said}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_file_that_got_a_newer_format_meanwhile_is_refused_where_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&made(folder.path()), Clock::System).unwrap();
        let (mut before, mut after) = (store.another().unwrap(), store.another().unwrap());
        assert_eq!(before.head().unwrap().seq, 1);
        open_next(&folder.path().join("ledger.db")).unwrap();
        assert_eq!(after.head().unwrap_err(), Error::Newer { what: "format", found: THEN, known: NOW });
    }

    #[test]
    fn whoever_wrote_much_leaves_no_long_log_to_whoever_comes_next() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path().join("ledger.db"), folder.path().join("ledger.db-wal"));
        let long = || std::fs::metadata(&log).map_or(0, |found| found.len()) > 1024 * 1024;
        let write = |store: &mut Sqlite, seq: u64| {
            let body = "x".repeat(3 * 1024 * 1024);
            let event = EventRow { seq, id: format!("id-{seq}"), run: None, hash: Hash::of(b"body"), body };
            store.begin().unwrap();
            store.apply(&Batch { events: vec![event], ..Batch::default() }).unwrap();
            store.commit().unwrap();
        };
        let mut store = Sqlite::create(&path, Clock::System).unwrap();
        write(&mut store, 1);
        assert!(long());
        // Somebody else who only reads leaves it to whoever wrote.
        let mut reader = store.another().unwrap();
        reader.head().unwrap();
        drop(reader);
        assert!(long());
        drop(store);
        assert!(!long());
        // Whoever is reading is neither waited for nor disturbed.
        let mut store = Sqlite::open(&path, Clock::System).unwrap();
        let reader = Connection::open(&path).unwrap();
        write(&mut store, 2);
        reader.execute_batch("BEGIN; SELECT count(*) FROM event;").unwrap();
        write(&mut store, 3);
        drop(store);
        assert_eq!(reader.query_row("SELECT count(*) FROM event", [], |row| row.get::<_, i64>(0)).unwrap(), 2);
        drop(reader);
        assert_eq!(Sqlite::open(&path, Clock::System).unwrap().head().unwrap().seq, 3);
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let broken = [STEPS[0], STEPS[1], "CREATE TABLE extra (a); INSERT INTO nowhere VALUES (1);"];
        assert!(Sqlite::open_as(&path, Clock::System, &broken).is_err());
        let mut store = Sqlite::open(&path, Clock::System).unwrap();
        assert_eq!((store.head().unwrap().seq, format_of(&path)), (1, NOW));
        assert_eq!(store.examine().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn many_that_find_an_older_format_at_once_bring_it_up_to_date_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        std::thread::scope(|scope| {
            let openers: Vec<_> = (0..6).map(|_| scope.spawn(|| open_next(&path).map(drop))).collect();
            openers.into_iter().for_each(|it| it.join().unwrap().unwrap());
        });
        assert_eq!(format_of(&path), THEN);
    }
}
