//! The files of a ledger are its own, whatever lies beside them and under whatever name they are opened.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use countersign_ledger::conformance::{Counters, add, command, text};
use countersign_ledger::{Batch, Clock, EventRow, Hash, Key, Ledger, Sqlite, Store, TextRow, Verifying, verify};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const LONG: usize = 100_000;

/// A ledger with one long text, of one letter.
fn made(path: &Path, letter: u8) -> Ledger {
    let store = Sqlite::create(path, Clock::System).unwrap();
    let ledger = Ledger::create(Box::new(store), Arc::new(Counters), "test-project").unwrap();
    let mut draft = add("a", 1);
    draft.texts = vec![text(&vec![letter; LONG])];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![draft])).unwrap();
    ledger
}

fn erase(ledger: &Ledger) {
    let mut erasure = add("a", 1);
    erasure.erase = vec![(1, 0)];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
    ledger.store().unwrap().scrub().unwrap();
}

fn said(store: &mut dyn Store) -> Option<Vec<u8>> {
    store.texts(1, 2).unwrap().remove(0).text.map(|text| text.body)
}

fn no_faults(store: &mut dyn Store) {
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[test]
fn ledgers_in_one_folder_do_not_touch_each_others_texts() {
    let folder = tempfile::tempdir().unwrap();
    let one = made(&folder.path().join("one.db"), b'1');
    let other = made(&folder.path().join("other.db"), b'2');
    let copy = folder.path().join("copy.db");
    one.store().unwrap().backup(&copy).unwrap();
    no_faults(&mut *one.store().unwrap());
    no_faults(&mut *other.store().unwrap());
    erase(&one);
    assert_eq!(said(&mut *one.store().unwrap()), None);
    assert_eq!(said(&mut *other.store().unwrap()), Some(vec![b'2'; LONG]));
    let mut copy = Sqlite::open(&copy, Clock::System).unwrap();
    assert_eq!(said(&mut copy), Some(vec![b'1'; LONG]));
    no_faults(&mut copy);
}

#[test]
fn a_copy_takes_the_place_of_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = made(&folder.path().join("ledger.db"), b'1');
    let copy = folder.path().join("copy.db");
    let mut store = ledger.store().unwrap();
    for taken in [copy.clone(), beside(&copy, "-blobs")] {
        std::fs::write(&taken, "mine").unwrap();
        assert!(store.backup(&copy).unwrap_err().to_string().contains("is there already"));
        assert_eq!(std::fs::read(&taken).unwrap(), b"mine");
        std::fs::remove_file(&taken).unwrap();
    }
    let nowhere = folder.path().join("missing");
    let said = store.backup(&nowhere.join("copy.db")).unwrap_err().to_string();
    assert!(said.ends_with(&format!("there is no directory {}", nowhere.display())), "{said}");
    // A text that is missing is no copy, and nothing of one is left.
    std::fs::remove_dir_all(beside(&folder.path().join("ledger.db"), "-blobs")).unwrap();
    let before = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(store.backup(&copy).unwrap_err().to_string().contains("is gone"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), before);
}

#[test]
fn what_does_not_belong_among_the_long_texts_is_found_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = made(&folder.path().join("ledger.db"), b'1');
    let blobs = folder.path().join("ledger.db-blobs");
    let strays = [blobs.join("loose"), blobs.join("ab/.tmpAbCdEf")];
    for stray in &strays {
        std::fs::create_dir_all(stray.parent().unwrap()).unwrap();
        std::fs::write(stray, "x").unwrap();
    }
    let mut store = ledger.store().unwrap();
    assert_eq!(store.examine().unwrap().len(), strays.len());
    store.scrub().unwrap();
    assert!(strays.iter().all(|stray| !stray.exists()));
    no_faults(&mut *store);
    assert_eq!(said(&mut *store), Some(vec![b'1'; LONG]));
}

/// A row of a long text, and the event that says it, after those that are there.
fn next(store: &mut dyn Store, letter: u8) -> Batch {
    let seq = store.head().unwrap().seq + 1;
    let said = text(&vec![letter; LONG]);
    let event = EventRow { seq, id: format!("id-{seq}"), run: None, hash: Hash::of(b"{}"), body: "{}".to_owned() };
    Batch { events: vec![event], texts: vec![TextRow { seq, n: 0, text: Some(said) }], ..Batch::default() }
}

/// How many files there are of long texts, and what is said of them.
fn files(path: &Path) -> (usize, Vec<String>) {
    let list = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).map(|it| it.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
    };
    let count = list(&beside(path, "-blobs")).iter().map(|folder| list(folder).len()).sum();
    (count, Sqlite::open(path, Clock::System).unwrap().examine().unwrap())
}

#[test]
fn what_a_commit_left_that_broke_off_is_no_fault_and_whoever_writes_next_removes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = made(&path, b'1');
    let mut store = ledger.store().unwrap();
    for also_a_piece in [false, true] {
        let batch = next(&mut *store, b'2');
        store.begin().unwrap();
        store.apply(&batch).unwrap();
        if also_a_piece {
            let hash = batch.texts[0].text.as_ref().unwrap().hash().hex();
            std::fs::write(beside(&path, "-blobs").join(&hash[..2]).join(".tmpAbCdEf"), "half").unwrap();
        }
        store.rollback();
        assert_eq!(files(&path), (2 + usize::from(also_a_piece), vec![]));
        // Whoever comes next need not be the one whose it was, nor write a long text, nor commit.
        let mut other = Sqlite::open(&path, Clock::System).unwrap();
        other.begin().unwrap();
        other.rollback();
        assert_eq!(files(&path), (1, vec![]));
    }
    // What else does not belong there is found all the same, and stays.
    let batch = next(&mut *store, b'2');
    store.begin().unwrap();
    store.apply(&batch).unwrap();
    store.rollback();
    let loose = beside(&path, "-blobs").join("loose");
    std::fs::write(&loose, "x").unwrap();
    assert_eq!(files(&path).1.len(), 1);
    store.begin().unwrap();
    store.rollback();
    assert_eq!((files(&path).0, loose.exists()), (1, true));
    std::fs::remove_file(loose).unwrap();
    // While somebody reads, the journal cannot be emptied, from which a commit could still come; so its files stay.
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("a", 1)])).unwrap();
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let batch = next(&mut *store, b'2');
    store.begin().unwrap();
    store.apply(&batch).unwrap();
    store.rollback();
    let mut other = Sqlite::open(&path, Clock::System).unwrap();
    for left in [2, 1] {
        other.begin().unwrap();
        other.rollback();
        assert_eq!(files(&path), (left, vec![]));
        reader.execute_batch("ROLLBACK").unwrap_or_default();
    }
    assert_eq!(said(&mut *store), Some(vec![b'1'; LONG]));
}

#[test]
fn whoever_goes_on_with_long_texts_forgets_nobody_who_broke_off_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = made(&path, b'1');
    let mut goes_on = ledger.store().unwrap();
    goes_on.begin().unwrap();
    goes_on.rollback();
    // It has seen that nothing is left; then somebody breaks off.
    let mut other = Sqlite::open(&path, Clock::System).unwrap();
    let batch = next(&mut other, b'2');
    other.begin().unwrap();
    other.apply(&batch).unwrap();
    other.rollback();
    drop(other);
    let batch = next(&mut *goes_on, b'3');
    goes_on.begin().unwrap();
    goes_on.apply(&batch).unwrap();
    goes_on.commit().unwrap();
    assert_eq!(files(&path), (3, vec![]));
    goes_on.begin().unwrap();
    goes_on.rollback();
    assert_eq!(files(&path), (2, vec![]));
}

#[test]
fn a_bare_name_lies_in_the_working_directory() {
    let folder = tempfile::tempdir().unwrap();
    // The other tests of this file name whole paths.
    std::env::set_current_dir(folder.path()).unwrap();
    let ledger = made(Path::new("bare.db"), b'1');
    let mut store = ledger.store().unwrap();
    store.backup(Path::new("copy.db")).unwrap();
    assert_eq!(said(&mut *store), Some(vec![b'1'; LONG]));
    assert_eq!(said(&mut Sqlite::open(Path::new("copy.db"), Clock::System).unwrap()), Some(vec![b'1'; LONG]));
    assert!(folder.path().join("bare.db-blobs").is_dir());
}

#[cfg(unix)]
#[test]
fn a_link_to_a_ledger_is_that_ledger() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let ledger = made(&folder.path().join("ledger.db"), b'1');
    let link = elsewhere.path().join("link.db");
    std::os::unix::fs::symlink(folder.path().join("ledger.db"), &link).unwrap();
    let mut linked = Sqlite::open(&link, Clock::System).unwrap();
    assert_eq!(said(&mut linked), Some(vec![b'1'; LONG]));
    let mut direct = ledger.store().unwrap();
    direct.begin().unwrap();
    assert!(linked.begin_now().unwrap().is_none());
    direct.rollback();
    assert!(linked.begin_now().unwrap().is_some());
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

/// A file of the first format, as binaries before the second wrote it: with events by entity, and without the one before each.
fn of_the_first_format(path: &Path) {
    let file = rusqlite::Connection::open(path).unwrap();
    file.execute_batch(
        "ALTER TABLE touch RENAME TO later;
         CREATE TABLE touch (
             kind TEXT NOT NULL,
             id   TEXT NOT NULL,
             seq  INTEGER NOT NULL,
             PRIMARY KEY (kind, id, seq)
         ) STRICT, WITHOUT ROWID;
         INSERT INTO touch SELECT kind, id, seq FROM later;
         DROP TABLE later;
         PRAGMA user_version = 1;",
    )
    .unwrap();
}

#[test]
fn a_ledger_of_the_first_format_goes_on_with_its_whole_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let ledger = made(&path, b'1');
    let append = |ledger: &Ledger, counter: &str| {
        let draft = add(counter, 1);
        ledger.write(|transaction| transaction.append(&command("ana"), vec![draft])).unwrap();
    };
    ["b", "a"].into_iter().for_each(|counter| append(&ledger, counter));
    let head = ledger.head().unwrap();
    drop(ledger);
    of_the_first_format(&path);
    let store = Sqlite::open(&path, Clock::System).unwrap();
    assert!(beside(&path, ".format-1").is_file());
    let ledger = Ledger::open(Box::new(store), Arc::new(Counters)).unwrap();
    assert_eq!(ledger.head().unwrap(), head);
    append(&ledger, "a");
    assert_eq!(ledger.history(&Key::new("counter", "a"), 9).unwrap(), vec![1, 3, 4]);
    assert_eq!(ledger.history(&Key::new("counter", "a"), 2).unwrap(), vec![3, 4]);
    assert_eq!(ledger.history(&Key::new("counter", "b"), 9).unwrap(), vec![2]);
    let mut store = ledger.store().unwrap();
    let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
    no_faults(&mut *store);
}
