//! An erasure that was broken off is known, and can be finished.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use countersign_ledger::conformance::{Counters, add, command, text};
use countersign_ledger::{Clock, Intake, Ledger, Memory, Sqlite, Store, migrate, unfinished_erasure};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const PROJECT: &str = "test-project";

fn stores(folder: &Path) -> [Box<dyn Store>; 2] {
    let file = Sqlite::create(&folder.join("ledger.db"), Clock::System).unwrap();
    [Box::new(file), Box::new(Memory::new(Clock::System))]
}

fn say(ledger: &Ledger) -> u64 {
    say_so(ledger, b"said")
}

fn say_so(ledger: &Ledger, body: &[u8]) -> u64 {
    let mut draft = add("a", 1);
    draft.texts = vec![text(body)];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![draft])).unwrap().first
}

fn erase(ledger: &Ledger, seq: u64) {
    let mut erasure = add("a", 1);
    erasure.erase = vec![(seq, 0)];
    ledger.write(|transaction| transaction.append(&command("ana"), vec![erasure])).unwrap();
}

fn told(store: &mut dyn Store) -> bool {
    let faults = store.examine().unwrap();
    assert!(faults.iter().all(|it| it.contains("an erasure was not finished")), "{faults:?}");
    assert_eq!(unfinished_erasure(store).unwrap(), !faults.is_empty());
    !faults.is_empty()
}

#[test]
fn an_erasure_is_due_until_it_was_scrubbed() {
    let folder = tempfile::tempdir().unwrap();
    for store in stores(folder.path()) {
        let ledger = Ledger::create(store, Arc::new(Counters), PROJECT).unwrap();
        let said = say(&ledger);
        let mut store = ledger.store().unwrap();
        assert!(!told(&mut *store));
        erase(&ledger, said);
        // As if the process had ended here.
        let again = Ledger::open(ledger.store().unwrap(), Arc::new(Counters)).unwrap();
        drop(ledger);
        assert!(told(&mut *store));
        say(&again);
        assert!(told(&mut *store));
        store.scrub().unwrap();
        assert!(!told(&mut *store));
        assert!(!told(&mut *again.store().unwrap()));
    }
}

#[test]
fn a_log_that_was_taken_in_has_nothing_due() {
    let folder = tempfile::tempdir().unwrap();
    let [file, memory] = stores(folder.path());
    let ledger = Ledger::create(file, Arc::new(Counters), PROJECT).unwrap();
    let said = say(&ledger);
    erase(&ledger, said);
    let (mut from, mut to) = (ledger.store().unwrap(), memory);
    // Its first part broke off, and what it erased is remembered.
    let mut intake = Intake::open(&mut *to, &Counters, PROJECT).unwrap();
    intake.take(from.events(1, None, 2).unwrap(), from.texts(1, 3).unwrap()).unwrap();
    assert!(told(&mut *to));
    migrate(&mut *from, &mut *to, &Counters, "memory", &mut |_, _| {}).unwrap();
    assert!(!told(&mut *to));
}

/// The files of long texts.
fn files(folder: &Path) -> usize {
    let folders = std::fs::read_dir(folder.join("ledger.db-blobs")).unwrap().map(|it| it.unwrap().path());
    folders.filter(|it| it.is_dir()).map(|it| std::fs::read_dir(it).unwrap().count()).sum()
}

#[test]
fn while_a_reader_keeps_an_erasure_from_its_end_others_go_on_writing() {
    let folder = tempfile::tempdir().unwrap();
    let [file, _] = stores(folder.path());
    let ledger = Ledger::create(file, Arc::new(Counters), PROJECT).unwrap();
    let said = say_so(&ledger, &[b'x'; 70_000]);
    let reader = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    erase(&ledger, said);
    let done = AtomicBool::new(false);
    let mut store = ledger.store().unwrap();
    std::thread::scope(|scope| {
        let scrubbing = scope.spawn(|| {
            let scrubbed = store.scrub();
            done.store(true, Ordering::SeqCst);
            scrubbed
        });
        let mut written = 0;
        while !done.load(Ordering::SeqCst) {
            say(&ledger);
            written += 1;
        }
        assert!(written > 1, "nothing was written meanwhile");
        assert!(scrubbing.join().unwrap().unwrap_err().to_string().contains("another process reads"));
    });
    assert!(told(&mut *store));
    // That the text is erased lies in the log alone. Its file goes when that cannot be undone any more, and not before.
    assert_eq!(files(folder.path()), 1);
    reader.execute_batch("ROLLBACK").unwrap();
    store.scrub().unwrap();
    assert!(!told(&mut *store));
    assert_eq!(files(folder.path()), 0);
}
