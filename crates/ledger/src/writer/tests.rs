//! Commands that share a commit, on each store that can fail while it is written to.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::conformance::{Counters, add, command, once, text, value_of};
use crate::event::Draft;
use crate::ledger::Ledger;
use crate::rows::{Key, RowValue, Table};
use crate::sqlite::Sqlite;
use crate::transaction::Scan;
use crate::tree::Edge;
use crate::{Clock, Verifying, verify};

const PROJECT: &str = "test-project";

/// A place to write to, and who makes it refuse the event `unwritable`, and take it again.
struct Place<'a> {
    store: Box<dyn Store>,
    refuse: Box<dyn Fn(bool) + 'a>,
}

/// Does something in a file, and on a server.
fn everywhere(test: impl Fn(Place<'_>)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let refuse = |refuses: bool| {
        let file = rusqlite::Connection::open(&path).unwrap();
        let sql = if refuses {
            "CREATE TRIGGER refusing BEFORE INSERT ON event WHEN NEW.id = 'unwritable'
             BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        } else {
            "DROP TRIGGER refusing"
        };
        file.execute_batch(sql).unwrap();
    };
    test(Place { store: Box::new(Sqlite::create(&path, Clock::System).unwrap()), refuse: Box::new(refuse) });
    #[cfg(unix)]
    on_a_server(test);
}

#[cfg(unix)]
fn on_a_server(test: impl Fn(Place<'_>)) {
    let server = crate::conformance::postgres_server::Server::start();
    let refuse = |refuses: bool| {
        server.sql(if refuses {
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not this one''; END';
             CREATE TRIGGER refusing BEFORE INSERT ON countersign.event FOR EACH ROW
             WHEN (NEW.id = 'unwritable') EXECUTE FUNCTION refuse()"
        } else {
            "DROP TRIGGER refusing ON countersign.event"
        });
    };
    let store = crate::postgres::Postgres::create(&server.url(), PROJECT).unwrap();
    test(Place { store: Box::new(store), refuse: Box::new(refuse) });
}

/// A writer that nobody serves, so that what waits together is for the test to say.
pub(super) fn writer(store: Box<dyn Store>) -> Writer {
    let another = store.another().unwrap();
    drop(Ledger::create(store, Arc::new(Counters), PROJECT).unwrap());
    let mut writer = Writer {
        store: another,
        reader: None,
        no_reader_until: None,
        scribe: None,
        fold: Arc::new(Counters),
        project: PROJECT.to_owned(),
        queue: Arc::default(),
        known: None,
        about: Arc::default(),
        in_line: Arc::default(),
    };
    // As a writer that has completed a tile.
    let edge = Some(Edge::load(&mut *writer.store, 0).unwrap());
    writer.known = Some((Head::EMPTY, Known { edge, ..Known::default() }));
    writer
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

/// The same for who looks for the counter where its value says that it is to be found.
fn finding(n: usize) -> Work {
    Box::new(move |transaction| {
        let seen = transaction.get(&[Key::new("counter", "all")])?.pop().flatten();
        let found = transaction.scan(&[Scan::prefix("by_value", &[], 1000)])?.remove(0);
        let found = found.iter().filter(|hit| hit.key.id == "all").map(|hit| hit.at.clone()).collect::<Vec<_>>();
        let wanted = seen.iter().map(|it| value_of(it).to_be_bytes().to_vec()).collect::<Vec<_>>();
        if found != wanted {
            return Err(Error::Malformed(format!("it is at {wanted:?} and was found at {found:?}")));
        }
        counting(n)(transaction)
    })
}

/// Records one event as a test wants it.
fn appending(draft: Draft) -> Work {
    Box::new(move |transaction| transaction.append(&command("ana"), vec![draft]).map(drop))
}

/// Takes commands that wait together to their end. Each says that it will look at its key.
pub(super) fn run(writer: &mut Writer, works: Vec<Work>) -> Vec<Result<()>> {
    writer.about.store(works.len(), Ordering::SeqCst);
    let push = |(n, work)| {
        let key = RowKey::Remembered(["ana", "counter.add", &format!("key-{n}")].map(Into::into));
        writer.queue.push(work, vec![key]).unwrap()
    };
    let stubs: Vec<_> = (0..).zip(works).map(push).collect();
    // Where one commit of many fails, those who were not taken up yet are left for the next round.
    while writer.queue.waiting() > 0 {
        let first = writer.queue.first().unwrap();
        writer.round(first);
    }
    stubs.iter().map(|stub| stub.wait(Duration::ZERO).unwrap()).collect()
}

/// Asserts that everything in the ledger follows from its events.
pub(super) fn sound(writer: &mut Writer) {
    let mut store = writer.store.another().unwrap();
    let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[test]
fn each_command_sees_all_before_it_and_what_is_known_is_what_the_store_has() {
    everywhere(|Place { store, .. }| {
        let mut writer = writer(store);
        for round in 0..9 {
            let outcomes = run(&mut writer, (0..44).map(|n| finding(round * 44 + n)).collect());
            assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
            // The second time over, nothing is known but what the store has.
            writer.known = writer.known.take().filter(|_| round % 2 == 0);
        }
        // More than three whole tiles of the tree, each of which ends in the second half of a round.
        assert_eq!(writer.store.head().unwrap().seq, 792);
        let entities = writer.store.range(&Table::Entity.first(), None, 1000).unwrap();
        assert_eq!(entities.len(), 397, "no two saw the same");
        sound(&mut writer);
    });
}

#[test]
fn what_cannot_be_written_fails_for_all_who_share_the_commit_and_not_for_later_ones() {
    everywhere(|Place { store, refuse }| {
        let mut writer = writer(store);
        assert!(run(&mut writer, vec![counting(0)])[0].is_ok());
        refuse(true);
        for place in [0, 23] {
            let mut works: Vec<_> = (1..24).map(counting).collect();
            works.insert(place, appending(Draft { id: Some("unwritable".to_owned()), ..add("all", 1) }));
            let outcomes = run(&mut writer, works);
            let told =
                |outcome: &Result<()>| matches!(outcome, Err(Error::NotWritten(why)) if why.contains("not this one"));
            assert!(outcomes.iter().all(told), "{outcomes:?}");
            assert_eq!(writer.store.head().unwrap().seq, 2);
        }
        refuse(false);
        let outcomes = run(&mut writer, (1..40).map(counting).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        assert_eq!(writer.store.head().unwrap().seq, 80);
        sound(&mut writer);
    });
}

/// More than share one commit in a file: each is decided while the one before is written.
#[test]
fn what_rests_on_what_cannot_be_written_is_not_written_either() {
    everywhere(|Place { store, refuse }| {
        let mut writer = writer(store);
        refuse(true);
        let mut written = 0;
        for (round, place) in [0, 31, 32, 60, 99].into_iter().enumerate() {
            let (of_round, before) = (1000 * round, writer.store.head().unwrap().seq);
            let mut works: Vec<_> = (0..100).map(|n| finding(of_round + n)).collect();
            works.insert(place, appending(Draft { id: Some("unwritable".to_owned()), ..add("all", 1) }));
            let mut outcomes = run(&mut writer, works);
            let told = |outcome: &Result<()>| match outcome {
                Err(Error::NotWritten(why)) => why.contains("not this one"),
                outcome => outcome.is_ok(),
            };
            assert!(outcomes.iter().all(told), "{outcomes:?}");
            let done = outcomes.iter().filter(|it| it.is_ok()).count() as u64;
            assert_eq!(writer.store.head().unwrap().seq, before + 2 * done, "who was told that it is there, is there");
            written += done;
            // Nobody who was told that it is not written is to be found.
            let key = |n: usize| RowKey::Remembered(["ana", "counter.add", &format!("key-{n}")].map(Into::into));
            let keys: Vec<_> = (0..100).map(|n| key(of_round + n)).collect();
            assert!(outcomes.remove(place).is_err());
            for (row, outcome) in writer.store.get(&keys).unwrap().iter().zip(&outcomes) {
                assert_eq!(row.is_some(), outcome.is_ok());
            }
        }
        refuse(false);
        let outcomes = run(&mut writer, (0..100).map(|n| finding(100_000 + n)).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        let all = RowKey::Entity(Key::new("counter", "all"));
        let Some(RowValue::Entity(all)) = writer.store.get(&[all]).unwrap().remove(0) else { unreachable!() };
        assert_eq!(value_of(&all) as u64, written + 100);
        sound(&mut writer);
    });
}

#[test]
fn who_is_refused_leaves_the_others_alone() {
    everywhere(|Place { store, .. }| {
        let mut writer = writer(store);
        // It had changed rows that others have changed before it, and rows that nobody had.
        let refused = |n: usize| -> Work {
            Box::new(move |transaction| {
                counting(1000 + n)(transaction)?;
                transaction.append(&command("ana"), vec![add("all", 0)])?;
                Err(Error::Malformed("no".to_owned()))
            })
        };
        let works = (0..40).map(|n| if n % 2 == 0 { counting(n) } else { refused(n) }).collect();
        let outcomes = run(&mut writer, works);
        for (n, outcome) in outcomes.iter().enumerate() {
            assert_eq!(outcome.is_ok(), n % 2 == 0, "{n}: {outcome:?}");
        }
        let outcomes = run(&mut writer, (0..40).map(refused).collect());
        assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
        assert_eq!(writer.store.head().unwrap().seq, 40);
        // A key that was used in the same commit is known.
        let outcomes = run(&mut writer, (0..40).map(|n| counting(100 + n % 20)).collect());
        assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 20, "{outcomes:?}");
        sound(&mut writer);
    });
}

#[test]
fn a_text_of_the_same_commit_can_be_erased() {
    everywhere(|Place { store, .. }| {
        let mut writer = writer(store);
        let told = appending(Draft { texts: vec![text(b"a secret"), text(&vec![7; 100_000])], ..add("told", 1) });
        let erase = |n| appending(Draft { erase: vec![(1, n)], ..add("erased", 1) });
        let outcomes = run(&mut writer, vec![told, counting(1), erase(0), erase(1), erase(2)]);
        assert!(outcomes[..4].iter().all(Result::is_ok), "{outcomes:?}");
        assert!(matches!(outcomes[4], Err(Error::Malformed(_))), "there were two texts");
        let texts = writer.store.texts(1, 2).unwrap();
        assert!(texts.len() == 2 && texts.iter().all(|row| row.text.is_none()), "{texts:?}");
        writer.store.scrub().unwrap();
        sound(&mut writer);
    });
}

#[cfg(unix)]
#[test]
fn a_row_that_cannot_be_there_and_is_costs_one_attempt() {
    let server = crate::conformance::postgres_server::Server::start();
    let store = crate::postgres::Postgres::create(&server.url(), PROJECT).unwrap();
    let mut writer = writer(Box::new(store));
    server.sql("INSERT INTO countersign.touch SELECT project, 1, 'counter', 'all', 0 FROM countersign.head");
    let outcomes = run(&mut writer, (0..40).map(counting).collect());
    assert!(outcomes.iter().all(|it| matches!(it, Err(Error::NotWritten(_)))), "{outcomes:?}");
    let outcomes = run(&mut writer, (0..40).map(counting).collect());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    sound(&mut writer);
}
