//! Commands that are decided while others are written.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::conformance::{Counters, add, command, once, value_of};
use crate::event::Draft;
use crate::ledger::Ledger;
use crate::rows::{Key, Table};
use crate::sqlite::Sqlite;
use crate::{Clock, Verifying, verify};

const PROJECT: &str = "test-project";

/// A writer that nobody serves, so that what waits together is for the test to say.
fn writer(folder: &std::path::Path) -> Writer {
    let path = folder.join("ledger.db");
    let store = Sqlite::create(&path, Clock::System).unwrap();
    drop(Ledger::create(Box::new(store), Arc::new(Counters), PROJECT).unwrap());
    Writer { overlaps: true, ..idle(Box::new(Sqlite::open(&path, Clock::System).unwrap()), PROJECT) }
}

/// A writer of a store of counters that has done nothing yet.
pub(super) fn idle(store: Box<dyn Store>, project: &str) -> Writer {
    Writer {
        store,
        reader: None,
        fold: Arc::new(Counters),
        project: project.to_owned(),
        queue: Arc::default(),
        known: None,
        about: Arc::default(),
        overlaps: false,
        scribe: None,
        in_line: Arc::default(),
    }
}

/// Adds one to a counter by what it sees of it, and to the counter of those that saw so much.
pub(super) fn counting(n: usize) -> Work {
    Box::new(move |transaction| {
        let seen = transaction.get(&[Key::new("counter", "all")])?.pop().flatten();
        let seen = seen.as_ref().map_or(0, value_of);
        let drafts = vec![add("all", 1), add(&format!("saw-{seen}"), 1)];
        transaction.append(&once("ana", &format!("key-{n}"), "request"), drafts).map(drop)
    })
}

/// Takes some commands to their end, of which half wait while the others are decided.
fn run(writer: &mut Writer, works: Vec<Work>) -> Vec<Result<()>> {
    writer.about.store(works.len(), Ordering::SeqCst);
    let stubs: Vec<_> = works.into_iter().map(|work| writer.queue.push(work, Vec::new()).unwrap()).collect();
    let first = writer.queue.first().unwrap();
    writer.round(first);
    stubs.iter().map(|stub| stub.wait(Duration::ZERO).unwrap()).collect()
}

/// Asserts that everything in the ledger follows from its events.
pub(super) fn sound(writer: &mut Writer) {
    let mut store = writer.store.another().unwrap();
    let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[test]
fn each_command_sees_all_before_it_whether_that_is_written_yet_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    for round in 0..9 {
        writer.overlaps = true;
        let outcomes = run(&mut writer, (0..40).map(|n| counting(round * 40 + n)).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert!(writer.reader.is_some(), "some were decided while others were written");
    }
    // More than two whole tiles of the tree.
    assert_eq!(writer.store.head().unwrap().seq, 720);
    let entities = writer.store.range(&Table::Entity.first(), None, 1000).unwrap();
    assert_eq!(entities.len(), 361, "no two saw the same");
    sound(&mut writer);
}

#[test]
fn what_rests_on_a_commit_that_failed_fails_with_it_and_what_comes_later_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    assert!(run(&mut writer, vec![counting(0)])[0].is_ok());
    // What fails when it is written, and not before.
    let file = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    let refusing = "CREATE TRIGGER refusing BEFORE INSERT ON event WHEN NEW.id = 'unwritable'
                    BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    file.execute_batch(refusing).unwrap();
    let fails: Work = Box::new(move |transaction| {
        let draft = Draft { id: Some("unwritable".to_owned()), ..add("all", 1) };
        transaction.append(&command("ana"), vec![draft]).map(drop)
    });
    writer.overlaps = true;
    let works = std::iter::once(fails).chain((1..40).map(counting)).collect();
    let outcomes = run(&mut writer, works);
    let undone = |outcome: &Result<()>| matches!(outcome, Err(Error::NotWritten(_)));
    assert!(outcomes.iter().all(undone), "{outcomes:?}");
    let after = |why: &Result<()>| why.as_ref().is_err_and(|why| why.to_string().contains("rests on"));
    assert_eq!(outcomes.iter().filter(|it| after(it)).count(), 20);
    assert_eq!(writer.store.head().unwrap().seq, 2);
    file.execute_batch("DROP TRIGGER refusing").unwrap();
    drop(file);
    writer.overlaps = true;
    let outcomes = run(&mut writer, (1..40).map(counting).collect());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(writer.store.head().unwrap().seq, 80);
    sound(&mut writer);
}

#[test]
fn who_is_refused_leaves_the_others_alone_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let refused = |_: usize| -> Work { Box::new(|_| Err(Error::Malformed("no".to_owned()))) };
    let works = (0..40).map(|n| if n % 2 == 0 { counting(n) } else { refused(n) }).collect();
    let outcomes = run(&mut writer, works);
    for (n, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_ok(), n % 2 == 0, "{n}: {outcome:?}");
    }
    // A key that was used in the commit before is known, though that may not be written yet.
    writer.overlaps = true;
    let outcomes = run(&mut writer, (0..40).map(|n| counting(100 + n % 20)).collect());
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 20, "{outcomes:?}");
    sound(&mut writer);
}

#[test]
fn a_text_of_the_commit_before_can_be_erased() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = writer(folder.path());
    let told: Work = Box::new(|transaction| {
        let draft = Draft { texts: vec![crate::conformance::text(b"a secret")], ..add("told", 1) };
        transaction.append(&command("ana"), vec![draft]).map(drop)
    });
    let erase = |place| -> Work {
        Box::new(move |transaction| {
            let draft = Draft { erase: vec![place], ..add("erased", 1) };
            transaction.append(&command("ana"), vec![draft]).map(drop)
        })
    };
    let outcomes = run(&mut writer, vec![told, counting(1), erase((1, 0)), erase((1, 1))]);
    assert!(outcomes[..3].iter().all(Result::is_ok), "{outcomes:?}");
    assert!(matches!(outcomes[3], Err(Error::Malformed(_))), "there was one text");
    assert!(writer.reader.is_some());
    assert_eq!(writer.store.texts(1, 2).unwrap()[0].text, None);
    writer.store.scrub().unwrap();
    sound(&mut writer);
}
