//! Commands of which a server writes the first while the others are decided.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::tests::{counting, idle, sound};
use super::*;
use crate::conformance::postgres_server::{Server, shared};
use crate::conformance::{Counters, add, command, text};
use crate::event::Draft;
use crate::ledger::Ledger;
use crate::postgres::Postgres;
use crate::rows::Table;

/// A writer that nobody serves, so that what waits together is for the test to say.
fn writer(server: &Server, project: &str) -> Writer {
    let store = Postgres::create(&server.url(), project).unwrap();
    drop(Ledger::create(Box::new(store), Arc::new(Counters), project).unwrap());
    idle(Box::new(Postgres::open(&server.url(), project).unwrap()), project)
}

/// Records one event as a test wants it.
fn appending(draft: Draft) -> Work {
    Box::new(move |transaction| transaction.append(&command("ana"), vec![draft]).map(drop))
}

/// Takes commands that wait together to their end. Each says that it will look at its key.
fn run(writer: &mut Writer, works: Vec<Work>) -> Vec<Result<()>> {
    writer.about.store(works.len(), Ordering::SeqCst);
    let push = |(n, work)| {
        let key = RowKey::Remembered(["ana".to_owned(), "counter.add".to_owned(), format!("key-{n}")]);
        writer.queue.push(work, vec![key]).unwrap()
    };
    let stubs: Vec<_> = (0..).zip(works).map(push).collect();
    let first = writer.queue.first().unwrap();
    writer.round(first);
    stubs.iter().map(|stub| stub.wait(Duration::ZERO).unwrap()).collect()
}

#[test]
fn each_command_sees_all_before_it_whether_that_is_sent_already_or_not() {
    let server = shared();
    let mut writer = writer(&server, "parts-see");
    assert!(writer.store.hurries(), "or this tests nothing");
    for round in 0..9 {
        let outcomes = run(&mut writer, (0..40).map(|n| counting(round * 40 + n)).collect());
        assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
        // The second time over, nothing is known but what the store has.
        writer.known = writer.known.take().filter(|_| round % 2 == 0);
    }
    // More than two whole tiles of the tree.
    assert_eq!(writer.store.head().unwrap().seq, 720);
    let entities = writer.store.range(&Table::Entity.first(), None, 1000).unwrap();
    assert_eq!(entities.len(), 361, "no two saw the same");
    sound(&mut writer);
}

#[test]
fn what_a_server_refuses_of_either_part_is_refused_to_all_and_what_comes_later_is_not() {
    let server = Server::start();
    let mut writer = writer(&server, "parts-fail");
    server.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''not this one''; END';
         CREATE TRIGGER refusing BEFORE INSERT ON countersign.event FOR EACH ROW
         WHEN (NEW.id = 'unwritable') EXECUTE FUNCTION refuse()",
    );
    for (place, key) in [(0, 0), (39, 100)] {
        let fails = appending(Draft { id: Some("unwritable".to_owned()), ..add("all", 1) });
        let mut works: Vec<_> = (key..key + 39).map(counting).collect();
        works.insert(place, fails);
        let outcomes = run(&mut writer, works);
        let told = |outcome: &Result<()>| {
            matches!(outcome, Err(Error::NotWritten(_))) && format!("{outcome:?}").contains("not this one")
        };
        assert!(outcomes.iter().all(told), "{outcomes:?}");
        assert_eq!(writer.store.head().unwrap().seq, 0);
    }
    let outcomes = run(&mut writer, (0..40).map(counting).collect());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(writer.store.head().unwrap().seq, 80);
    server.sql("DROP TRIGGER refusing ON countersign.event");
    sound(&mut writer);
}

#[test]
fn who_is_refused_leaves_the_others_alone_in_both_parts() {
    let server = shared();
    let mut writer = writer(&server, "parts-refused");
    let refused = |_: usize| -> Work { Box::new(|_| Err(Error::Malformed("no".to_owned()))) };
    let works = (0..40).map(|n| if n % 2 == 0 { counting(n) } else { refused(n) }).collect();
    let outcomes = run(&mut writer, works);
    for (n, outcome) in outcomes.iter().enumerate() {
        assert_eq!(outcome.is_ok(), n % 2 == 0, "{n}: {outcome:?}");
    }
    // A part that comes to nothing, first the one and then the other.
    for refused_of in [0..10, 10..40] {
        let works = (0..40).map(|n| if refused_of.contains(&n) { refused(n) } else { counting(200 + n) }).collect();
        let written = run(&mut writer, works).iter().filter(|it| it.is_ok()).count();
        assert_eq!(written, 40 - refused_of.len());
    }
    // A key that was used in the first part is known in the second.
    let outcomes = run(&mut writer, (0..40).map(|n| counting(100 + n % 10)).collect());
    assert_eq!(outcomes.iter().filter(|it| it.is_ok()).count(), 10, "{outcomes:?}");
    sound(&mut writer);
}

#[test]
fn a_text_of_the_first_part_can_be_erased_in_the_second() {
    let server = shared();
    let mut writer = writer(&server, "parts-erase");
    let told = appending(Draft { texts: vec![text(b"a secret"), text(&vec![7; 100_000])], ..add("told", 1) });
    let erase = |n| appending(Draft { erase: vec![(1, n)], ..add("erased", 1) });
    let works = std::iter::once(told).chain((0..38).map(counting)).chain([erase(0), erase(1), erase(2)]).collect();
    let outcomes = run(&mut writer, works);
    assert!(outcomes[..41].iter().all(Result::is_ok), "{outcomes:?}");
    assert!(matches!(outcomes[41], Err(Error::Malformed(_))), "there were two texts");
    let texts = writer.store.texts(1, 2).unwrap();
    assert!(texts.len() == 2 && texts.iter().all(|row| row.text.is_none()), "{texts:?}");
    writer.store.scrub().unwrap();
    sound(&mut writer);
}

#[test]
fn a_row_that_cannot_be_there_and_is_costs_one_attempt() {
    let server = Server::start();
    let mut writer = writer(&server, "parts-stray");
    server.sql("INSERT INTO countersign.touch SELECT project, 'counter', 'all', 1 FROM countersign.head");
    let outcomes = run(&mut writer, (0..40).map(counting).collect());
    assert!(outcomes.iter().all(|it| matches!(it, Err(Error::NotWritten(_)))), "{outcomes:?}");
    let outcomes = run(&mut writer, (0..40).map(counting).collect());
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    sound(&mut writer);
}
