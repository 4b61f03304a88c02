//! The disk is full, may only be read, or has lost and changed what was on it: that is said, and nothing breaks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "tests")]

mod appender;
mod dice;
mod place;

use appender::{ask, commands, database, findings, is_whole, open};
use countersign_ledger::conformance::{Counters, add, once, text};
use countersign_ledger::{
    Checkpoint, Clock, Error, EventRow, Ledger, Result, Sqlite, Store, Verified, Verifying, export, pages, tree, verify,
};
use dice::{Dice, Rounds};
use place::{Mounted, where_mounting_is_allowed};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Something longer, so that a small disk is soon full.
fn ask_much(ledger: &Ledger, key: &str) -> Result<(u64, u64)> {
    let mut draft = add("much", 1);
    draft.id = Some(format!("{key}.0"));
    draft.texts = vec![text(&key.as_bytes().repeat(20_000 / key.len()))];
    let command = once("appender", key, key);
    let recorded = ledger.write(move |transaction| transaction.append(&command, vec![draft]))?;
    Ok((recorded.first, recorded.last))
}

#[test]
fn a_full_disk_is_told_and_once_there_is_room_the_same_ledger_goes_on() {
    where_mounting_is_allowed("a_full_disk_is_told_and_once_there_is_room_the_same_ledger_goes_on", fill_a_disk);
}

fn fill_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    let _mounted = Mounted::small(&small, "1m").unwrap();
    let ledger = open(&small).unwrap();
    let (mut acknowledged, mut refused) = (Vec::new(), Vec::new());
    let ballast = |round: u32| small.join(format!("ballast-{round}"));
    (0..4).for_each(|round| std::fs::write(ballast(round), vec![0; 120_000]).unwrap());
    for round in 0..4 {
        let mut full = 0;
        for number in 0.. {
            let key = format!("round{round}-{number}");
            let started = Instant::now();
            match ask_much(&ledger, &key) {
                Ok(events) => acknowledged.push((key, events)),
                Err(Error::NotWritten(why)) => {
                    assert!(why.contains("the disk is full"), "{why}");
                    // Not a time that is measured, but one after which people give up.
                    assert!(started.elapsed() < Duration::from_secs(10), "a full disk is told late");
                    refused.push(key);
                    full += 1;
                }
                Err(other) => panic!("{other}"),
            }
            // What is there can be read all the while.
            assert_eq!(ledger.head().unwrap().seq, acknowledged.len() as u64);
            if full == 3 {
                break;
            }
        }
        std::fs::remove_file(ballast(round)).unwrap();
        let key = format!("round{round}-room");
        let events = ask_much(&ledger, &key).unwrap();
        acknowledged.push((key, events));
    }
    drop(ledger);
    let ledger = open(&small).unwrap();
    let there = commands(&ledger);
    assert_eq!(there, acknowledged.into_iter().collect());
    assert!(refused.iter().all(|key| !there.contains_key(key)));
    is_whole(&ledger);
    dice::count("appends refused by a full disk, none of them there", refused.len() as u64);
}

/// Everything in a folder, with its content, but what only running processes share.
fn all(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read =
        |path: PathBuf| if path.is_dir() { all(&path) } else { vec![(path.clone(), std::fs::read(path).unwrap())] };
    let kept = entries.filter(|path| !path.to_string_lossy().ends_with("-shm"));
    let mut all: Vec<_> = kept.flat_map(read).collect();
    all.sort();
    all
}

/// That a ledger in a place that may only be read is read in full, that nothing is written, and that this is said.
fn is_only_read(folder: &Path, events: u64) {
    let before = all(folder);
    let ledger = open_here(folder).unwrap();
    assert_eq!(ledger.head().unwrap().seq, events);
    assert_eq!(commands(&ledger).len(), events as usize / 2);
    assert_eq!(findings(&ledger), []);
    // A long one and a short one.
    assert_eq!(ledger.texts(16).unwrap().len(), 2);
    let mut store = ledger.store().unwrap();
    let exported = export(&mut *store, appender::PROJECT, 1, None, &mut std::io::sink(), &mut |_, _| {}).unwrap();
    assert_eq!(exported.seq, events);
    let why = [ask(&ledger, "new").unwrap_err(), store.begin().map(drop).unwrap_err(), store.scrub().unwrap_err()];
    for why in why {
        assert!(matches!(&why, Error::Closed(why) if why.contains("may only be read here")), "{why:?}");
    }
    assert!(store.describe().unwrap().iter().any(|(_, value)| value.contains("may only be read")));
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
    drop((ledger, store));
    assert!(all(folder) == before, "something was left behind or changed");
}

/// Opens what is there, and makes nothing.
fn open_here(folder: &Path) -> Result<Ledger> {
    Ledger::open(Box::new(Sqlite::open(&database(folder), Clock::System)?), std::sync::Arc::new(Counters))
}

/// A ledger with something in its file and something in its journal; how many events it has.
fn to_be_read(folder: &Path) -> u64 {
    let ledger = open(folder).unwrap();
    for number in 0..40 {
        ask(&ledger, &format!("early-{number}")).unwrap();
    }
    ledger.store().unwrap().scrub().unwrap();
    for number in 0..40 {
        ask(&ledger, &format!("late-{number}")).unwrap();
    }
    assert!(journal(folder).metadata().unwrap().len() > 10_000);
    ledger.head().unwrap().seq
}

#[test]
fn a_place_that_may_only_be_read_is_read_and_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let events = to_be_read(&home);
    let fixed = folder.path().join("fixed");
    let Some(mounted) = Mounted::read_only(&home, &fixed) else {
        // Without the right to mount there is no right to write where permissions forbid it either.
        return permitted_to_read(&home, || is_only_read(&home, events));
    };
    // As it was left, with a writer beside, without what processes share, and as a copy from which all is in the file.
    is_only_read(&fixed, events);
    let beside = open(&home).unwrap();
    is_only_read(&fixed, events);
    let (first, last) = ask(&beside, "beside").unwrap();
    assert_eq!((first, last), (events + 1, events + 2));
    is_only_read(&fixed, last);
    drop(beside);
    std::fs::remove_file(home.join("ledger.db-shm")).unwrap();
    is_only_read(&fixed, last);
    Sqlite::open(&database(&home), Clock::System).unwrap().scrub().unwrap();
    for end in ["-wal", "-shm", "-next", "-turn", "-bell"] {
        std::fs::remove_file(home.join(format!("ledger.db{end}"))).unwrap();
    }
    is_only_read(&fixed, last);
    // A row that was changed is found from there, too.
    let change = |by: &str| {
        let sql = format!("UPDATE entity SET version = version {by} WHERE id = 'all'");
        rusqlite::Connection::open(database(&home)).unwrap().execute(&sql, []).unwrap();
    };
    change("+ 1");
    let found = findings(&open_here(&fixed).unwrap());
    assert!(found.len() == 1 && found[0].what.contains("counter `all`"), "{found:?}");
    change("- 1");
    is_only_read(&fixed, last);
    let made = Sqlite::create(&fixed.join("new.db"), Clock::System).map(drop).unwrap_err();
    assert!(matches!(&made, Error::NotWritten(why) if why.contains("Read-only file system")), "{made}");
    // Somebody who begins to write where nobody did is noticed, and then read along with.
    let mut reader = Sqlite::open(&database(&fixed), Clock::System).unwrap();
    assert_eq!(reader.head().unwrap().seq, last);
    let writer = open(&home).unwrap();
    ask(&writer, "again").unwrap();
    assert!(matches!(reader.head(), Err(Error::Away(why)) if why.contains("try again")));
    assert_eq!(reader.head().unwrap().seq, last + 2);
    drop(mounted);
}

#[test]
fn once_a_place_may_be_written_to_again_the_same_ledger_goes_on() {
    where_mounting_is_allowed("once_a_place_may_be_written_to_again_the_same_ledger_goes_on", allow_writing_again);
}

fn allow_writing_again() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small");
    let mounted = Mounted::small(&small, "8m").unwrap();
    let events = to_be_read(&small);
    assert!(mounted.remount("ro"));
    is_only_read(&small, events);
    let ledger = open_here(&small).unwrap();
    assert!(matches!(ask(&ledger, "refused"), Err(Error::Closed(_))));
    assert!(mounted.remount("rw"));
    let (first, _) = ask(&ledger, "done").unwrap();
    assert_eq!(first, events + 1);
    is_whole(&ledger);
}

/// Does something while a folder and what is in it may only be read by anybody.
fn permitted_to_read(home: &Path, work: impl FnOnce()) {
    use std::os::unix::fs::PermissionsExt;
    let may = |mode: u32| {
        for entry in std::fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path()) {
            let mode = if entry.is_dir() { mode } else { mode & 0o666 };
            std::fs::set_permissions(entry, PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::set_permissions(home, PermissionsExt::from_mode(mode)).unwrap();
    };
    may(0o555);
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    may(0o755);
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// A ledger of which half lies in the file and half in its journal.
fn half_and_half(folder: &Path) -> (Checkpoint, Checkpoint) {
    let ledger = open(folder).unwrap();
    let checkpoint = || {
        let mut store = ledger.store().unwrap();
        let head = store.head().unwrap();
        let root = tree::root_at(&mut *store, head.seq).unwrap();
        Checkpoint { project: appender::PROJECT.to_owned(), size: head.seq, root, head: head.hash }
    };
    for number in 0..150 {
        ask(&ledger, &format!("early-{number}")).unwrap();
    }
    ledger.store().unwrap().scrub().unwrap();
    let early = checkpoint();
    for number in 0..30 {
        ask(&ledger, &format!("late-{number}")).unwrap();
    }
    (early, checkpoint())
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("ledger.db-wal")
}

/// A copy of a folder, without what only running processes share.
fn copy(from: &Path) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        for entry in std::fs::read_dir(from).unwrap().map(|entry| entry.unwrap()) {
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                std::fs::create_dir(&target).unwrap();
                copy(&entry.path(), &target);
            } else if !entry.path().to_string_lossy().ends_with("-shm") {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let to = tempfile::tempdir().unwrap();
    copy(from, to.path());
    to
}

fn verified(folder: &Path, kept: &[Checkpoint]) -> Result<Verified> {
    let mut store = Sqlite::open(&database(folder), Clock::System)?;
    let verifying = Verifying { from: 1, checkpoints: kept.to_vec() };
    verify(&mut store, &Counters, &verifying, &mut |_, _| {})
}

fn events(folder: &Path) -> Vec<EventRow> {
    let mut store = Sqlite::open(&database(folder), Clock::System).unwrap();
    let end = store.head().unwrap().seq;
    let mut all = Vec::new();
    let each = &mut |row| {
        all.push(row);
        Ok(())
    };
    pages::events(&mut store, 1, end, each).unwrap();
    all
}

/// Spoils the journal, which may cost what was written last: what is left is a beginning of what was, right in itself, with
/// everything that was in the file; and a kept checkpoint shows what is missing.
fn lose(folder: &Path, kept: &(Checkpoint, Checkpoint), whole: &[EventRow], what: &str) -> u64 {
    let (early, late) = kept;
    // Long texts of commits that are gone are left over.
    let due = ["no event names any more", "an erasure was not finished"];
    let cut = |it: &countersign_ledger::Finding| !due.iter().any(|due| it.what.contains(due));
    let found = match verified(folder, std::slice::from_ref(early)) {
        Ok(verified) => verified,
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(found.findings.into_iter().filter(cut).collect::<Vec<_>>(), [], "{what}");
    assert_eq!(found.checkpoints, 1, "{what}: what was in the file is lost");
    let left = events(folder);
    assert_eq!(left, whole[..left.len()], "{what}");
    let shown = verified(folder, std::slice::from_ref(late)).unwrap().findings.iter().any(cut);
    assert_eq!(shown, left.len() < whole.len(), "{what}");
    ask(&open(folder).unwrap(), "after").unwrap();
    (whole.len() - left.len()) as u64
}

#[test]
fn a_lost_or_cut_journal_costs_only_what_came_last_and_a_kept_checkpoint_shows_it() {
    let original = tempfile::tempdir().unwrap();
    let kept = half_and_half(original.path());
    let whole = events(original.path());
    assert_eq!(whole.len() as u64, kept.1.size);
    let length = std::fs::metadata(journal(original.path())).unwrap().len();
    assert!(length > 10_000);
    let untouched = copy(original.path());
    assert_eq!(lose(untouched.path(), &kept, &whole, "without the shared memory"), 0);
    let gone = copy(original.path());
    std::fs::remove_file(journal(gone.path())).unwrap();
    assert_eq!(lose(gone.path(), &kept, &whole, "without the journal"), kept.1.size - kept.0.size);
    let mut dice = Dice::thrown();
    let mut rounds = Rounds::of(15);
    for _ in rounds.by_ref() {
        let spoilt = copy(original.path());
        let at = dice.below(length);
        let file = std::fs::OpenOptions::new().write(true).open(journal(spoilt.path())).unwrap();
        if dice.below(2) == 0 {
            file.set_len(at).unwrap();
        } else {
            let noise = dice.next().to_le_bytes();
            std::os::unix::fs::FileExt::write_all_at(&file, &noise, at.min(length - 8)).unwrap();
        }
        lose(spoilt.path(), &kept, &whole, &format!("spoilt at byte {at} of {length}"));
    }
    dice::count("journals cut or changed", rounds.done());
}

#[test]
fn a_page_that_changed_is_found_or_held_nothing() {
    let original = tempfile::tempdir().unwrap();
    drop(half_and_half(original.path()));
    Sqlite::open(&database(original.path()), Clock::System).unwrap().scrub().unwrap();
    let whole = events(original.path());
    let length = std::fs::metadata(database(original.path())).unwrap().len();
    let mut dice = Dice::thrown();
    let mut rounds = Rounds::of(40);
    let (mut refused, mut found) = (0, 0);
    for _ in rounds.by_ref() {
        let spoilt = copy(original.path());
        let file = std::fs::OpenOptions::new().write(true).open(database(spoilt.path())).unwrap();
        let what = match dice.below(8) {
            0 => {
                let at = dice.below(length);
                file.set_len(at).unwrap();
                format!("cut at {at} of {length}")
            }
            _ => {
                let at = dice.below(length - 64);
                let noise: Vec<u8> = (0..8).flat_map(|_| dice.next().to_le_bytes()).collect();
                std::os::unix::fs::FileExt::write_all_at(&file, &noise, at).unwrap();
                format!("changed at {at} of {length}")
            }
        };
        match verified(spoilt.path(), &[]) {
            Err(_) => refused += 1,
            Ok(verified) if !verified.findings.is_empty() => found += 1,
            // Pages have room in them that holds nothing.
            Ok(_) => assert_eq!(events(spoilt.path()), whole, "{what}"),
        }
        // Whatever it is, it is said and nothing breaks; a write that is acknowledged is there.
        if let Ok(ledger) = open(spoilt.path())
            && let Ok((first, _)) = ask(&ledger, "after")
        {
            assert_eq!(ledger.events(first, None, 1).unwrap()[0].id, "after.0", "{what}");
        }
    }
    dice::count("files spoilt that could not be opened or read, with a reason", refused);
    dice::count("files spoilt that verify had a finding for", found);
    assert!(refused + found > 0);
}

#[test]
fn an_empty_or_foreign_file_is_no_ledger() {
    let folder = tempfile::tempdir().unwrap();
    for body in [b"".to_vec(), b"no database".repeat(1_000)] {
        std::fs::write(database(folder.path()), body).unwrap();
        let refused = Sqlite::open(&database(folder.path()), Clock::System)
            .and_then(|store| Ledger::open(Box::new(store), std::sync::Arc::new(Counters)));
        let why = refused.map(drop).unwrap_err().to_string();
        assert!(why.contains("no project yet") || why.contains("no SQLite database"), "{why}");
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    assert!(findings(&open(folder.path()).unwrap()).is_empty());
}
