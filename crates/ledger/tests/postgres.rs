//! What is particular to a ledger in PostgreSQL.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use countersign_ledger::conformance::postgres_server::{Server, eventually, shared};
use countersign_ledger::conformance::{Counters, add, command, once, text};
use countersign_ledger::{
    Batch, Clock, Error, EventRow, Hash, Ledger, Postgres, Sqlite, Store, TextRow, Verifying, migrate, rebuild, verify,
};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

fn event(seq: u64) -> EventRow {
    let body = format!("body {seq}");
    EventRow { seq, id: format!("id-{seq}"), run: None, hash: Hash::of(body.as_bytes()), body }
}

fn commit(store: &mut dyn Store, batch: &Batch) {
    store.begin().unwrap();
    store.apply(batch).unwrap();
    store.commit().unwrap();
    store.settle();
}

/// The error of what should not have worked.
fn refused<T>(outcome: Result<T, Error>) -> Error {
    outcome.map(drop).unwrap_err()
}

#[test]
fn a_database_has_many_projects_that_do_not_see_each_other() {
    let server = Server::start();
    assert_eq!(Postgres::projects(&server.url()).unwrap(), Vec::<String>::new());
    assert!(matches!(refused(Postgres::open(&server.url(), "a")), Error::Unreadable(_)));
    let mut stores: Vec<_> = ["b", "a"].map(|name| Postgres::create(&server.url(), name).unwrap()).into();
    assert_eq!(Postgres::projects(&server.url()).unwrap(), ["a", "b"]);
    assert!(matches!(refused(Postgres::create(&server.url(), "a")), Error::Closed(_)));
    assert!(matches!(refused(Postgres::open(&server.url(), "c")), Error::Unreadable(_)));
    // Each writes while the other does: the writer's place is the project's.
    stores[0].begin().unwrap();
    commit(&mut stores[1], &Batch { events: vec![event(1), event(2)], ..Batch::default() });
    stores[0].apply(&Batch { events: vec![event(1)], ..Batch::default() }).unwrap();
    stores[0].commit().unwrap();
    assert_eq!(stores[0].head().unwrap().seq, 1);
    assert_eq!(Postgres::open(&server.url(), "a").unwrap().head().unwrap().seq, 2);
}

#[test]
fn the_writer_is_named_and_a_waiter_is_woken_across_handles() {
    let server = shared();
    let mut store = Postgres::create(&server.url(), "who").unwrap();
    let another = store.another().unwrap();
    assert_eq!(another.writer(), None);
    store.begin().unwrap();
    let holder = another.writer().unwrap();
    assert!(holder.contains(&format!("countersign {}", std::process::id())), "{holder}");
    store.apply(&Batch { events: vec![event(1)], ..Batch::default() }).unwrap();
    store.commit().unwrap();
    store.settle();
    assert_eq!(another.writer(), None);
    let mut waiter = store.another().unwrap();
    assert_eq!(waiter.wait(0, Duration::from_secs(60)).unwrap().seq, 1);
}

#[test]
fn a_transaction_that_lags_behind_is_refused_and_a_cut_log_is_damaged() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    commit(&mut store, &Batch { events: vec![event(1), event(2)], ..Batch::default() });
    store.begin().unwrap();
    let gap = store.apply(&Batch { events: vec![event(4)], ..Batch::default() });
    assert!(matches!(gap, Err(Error::NotWritten(_))), "{gap:?}");
    server.sql("DELETE FROM countersign.event WHERE seq = 2");
    assert!(matches!(store.begin(), Err(Error::Damaged(_))));
    assert!(matches!(store.begin(), Err(Error::Damaged(_))));
}

#[test]
fn what_does_not_belong_into_the_schema_is_found() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
    server.sql(
        "CREATE FUNCTION countersign.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER quiet BEFORE INSERT ON countersign.event FOR EACH ROW EXECUTE FUNCTION countersign.f();
         ALTER TABLE countersign.lease ADD extra text;
         DROP INDEX countersign.event_run;
         ALTER TABLE countersign.due SET UNLOGGED;
         INSERT INTO countersign.blob VALUES (1, '\\x00', 0, '');
         CREATE TYPE countersign.mood AS ENUM ('good');
         CREATE DOMAIN countersign.name AS text;
         CREATE TYPE countersign.pair AS (a integer, b integer);
         CREATE TABLE public.more () INHERITS (countersign.event);
         CREATE TABLE public.all_texts (LIKE countersign.text);
         ALTER TABLE countersign.text INHERIT public.all_texts;
         CREATE FUNCTION public.g() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
         CREATE EVENT TRIGGER watchful ON ddl_command_end EXECUTE FUNCTION public.g()",
    );
    let faults = store.examine().unwrap();
    let strange = [
        "function f",
        "quiet",
        "lease.extra",
        "event_run",
        "survive",
        "long text",
        "`type mood`",
        "`type name`",
        "`relation pair`",
        "`table public.more, whose rows are those of event as well`",
        "`table text, whose rows are those of public.all_texts as well`",
        "`event trigger watchful on ddl_command_end`",
    ];
    for expected in strange {
        assert!(faults.iter().any(|it| it.contains(expected)), "{expected}: {faults:?}");
    }
}

#[test]
fn rows_that_nobody_comes_by_are_found() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    commit(&mut store, &Batch { events: vec![event(1), event(2)], ..Batch::default() });
    let spoilt = [
        ("UPDATE countersign.head SET seq = 1", "should end with event 1", "UPDATE countersign.head SET seq = 2"),
        (
            "UPDATE countersign.head SET hash = set_byte(hash, 0, get_byte(hash, 0) # 1)",
            "should end with event 2",
            "UPDATE countersign.head SET hash = set_byte(hash, 0, get_byte(hash, 0) # 1)",
        ),
        (
            "INSERT INTO countersign.event SELECT project, -1, 'x', run, hash, body FROM countersign.event WHERE seq = 1",
            "`event` has a row whose seq is -1",
            "DELETE FROM countersign.event WHERE seq < 1",
        ),
        (
            "INSERT INTO countersign.text VALUES (1, 0, 0)",
            "`text` has a row whose seq is 0",
            "DELETE FROM countersign.text WHERE seq < 1",
        ),
        (
            "INSERT INTO countersign.text VALUES (1, 9223372036854775807, 0)",
            "`text` has a row whose seq is 9223372036854775807",
            "DELETE FROM countersign.text WHERE seq > 2",
        ),
        (
            "INSERT INTO countersign.meta VALUES (7, 'a', 'b')",
            "`meta` has a row of project number 7",
            "DELETE FROM countersign.meta WHERE project = 7",
        ),
        (
            "INSERT INTO countersign.event SELECT 0, seq, id, run, hash, body FROM countersign.event WHERE seq = 1",
            "`event` has a row of project number 0",
            "DELETE FROM countersign.event WHERE project = 0",
        ),
        (
            "INSERT INTO countersign.format (step) VALUES (0)",
            "`format` has a row 0",
            "DELETE FROM countersign.format WHERE step = 0",
        ),
        (
            "DELETE FROM countersign.format WHERE step = 1",
            "`format` lacks the row 1",
            "INSERT INTO countersign.format (step) VALUES (1)",
        ),
    ];
    for (spoil, expected, mend) in spoilt {
        assert_eq!(store.examine().unwrap(), Vec::<String>::new());
        server.sql(spoil);
        let faults = store.examine().unwrap();
        assert!(faults.len() == 1 && faults[0].contains(expected), "{expected}: {faults:?}");
        server.sql(mend);
    }
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
}

#[test]
fn a_newer_format_and_a_careless_server_are_refused() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    server.sql("INSERT INTO countersign.format (step) VALUES (99)");
    assert!(matches!(refused(Postgres::open(&server.url(), "p")), Error::Newer { found: 99, .. }));
    server.sql("DELETE FROM countersign.format WHERE step = 99");
    // What a session may set for itself is set; what it may not is asked for.
    server.set("synchronous_commit", "off");
    server.set("fsync", "off");
    let error = refused(Postgres::open(&server.url(), "p")).to_string();
    assert!(error.contains("fsync is off"), "{error}");
    server.set("fsync", "on");
    assert!(Postgres::open(&server.url(), "p").unwrap().describe().unwrap()[2].1.contains("synchronous_commit on"));
    commit(&mut store, &Batch { events: vec![event(1)], ..Batch::default() });
    let backup = store.backup(Path::new("copy")).unwrap_err().to_string();
    assert!(backup.contains("pg_dump"), "{backup}");
}

#[test]
fn the_password_is_never_shown() {
    const SECRET: &str = "tops3cret";
    let server = shared();
    let url = server.url().replace("postgres@", &format!("postgres:{SECRET}@"));
    let mut store = Postgres::create(&url, "secret").unwrap();
    let mut said =
        vec![format!("{store:?}"), format!("{:?}", store.describe()), format!("{:?}", store.backup(Path::new("x")))];
    store.begin().unwrap();
    said.push(format!("{:?}", store.writer()));
    let wrong = [
        url.replace("/postgres", "/nowhere"),
        url.replace("%2Fs/", "%2Fnowhere/"),
        url.replace("postgres:", "nobody:"),
        format!("{url}?nonsense={SECRET}"),
        format!("{url}?sslmode={SECRET}"),
        url.replace("postgres://", "postgres:"),
        url.replace(SECRET, &format!("a@{SECRET}")),
        url.replace(SECRET, &format!("a%{SECRET}")),
    ];
    said.extend(wrong.iter().map(|url| {
        let error = refused(Postgres::open(url, "other"));
        format!("{error} {error:?}")
    }));
    for said in said {
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn an_erased_text_is_in_none_of_the_databases_files() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    // Longer than what takes its place, so that a page which is only tidied still has its beginning.
    let short = [b"short-canary-8471".as_slice(), &[b'.'; 400]].concat();
    let long: Vec<u8> = (0..40_000).flat_map(|n| format!("long-canary-{n:08}").into_bytes()).collect();
    let middle: Vec<u8> = (0..500).flat_map(|n| format!("middle-canary-{n:08}").into_bytes()).collect();
    let texts = [long, middle, short];
    let rows = (0..).zip(&texts).map(|(n, body)| TextRow { seq: 1, n, text: Some(text(body)) }).collect();
    commit(&mut store, &Batch { events: vec![event(1)], texts: rows, ..Batch::default() });
    // Samples for the planner must not keep what is erased.
    server.sql("ANALYZE");
    server.sql("CHECKPOINT");
    let canaries: [&[u8]; 3] = [b"short-canary", b"long-canary", b"middle-canary"];
    let base = server.data().join("base");
    assert!(holds(&base, canaries[0]));
    commit(&mut store, &Batch { erase: vec![(1, 0), (1, 1), (1, 2)], ..Batch::default() });
    store.scrub().unwrap();
    server.sql("CHECKPOINT");
    for canary in canaries {
        assert!(!holds(&base, canary), "{}", String::from_utf8_lossy(canary));
    }
    assert!(store.texts(1, 2).unwrap().iter().all(|row| row.text.is_none()));
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
}

#[test]
fn who_still_sees_an_erased_text_is_named() {
    let server = Server::start();
    let mut store = Postgres::create(&server.url(), "p").unwrap();
    let texts = vec![TextRow { seq: 1, n: 0, text: Some(text(b"said")) }];
    commit(&mut store, &Batch { events: vec![event(1)], texts, ..Batch::default() });
    let past = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(600)";
    let mut past = server.psql(past).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("somebody looks at the past", || {
        server.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1"
    });
    commit(&mut store, &Batch { erase: vec![(1, 0)], ..Batch::default() });
    let error = store.scrub().unwrap_err().to_string();
    assert!(error.contains("psql"), "{error}");
    server.sql("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
    past.wait().unwrap();
    store.scrub().unwrap();
}

/// Whether a file in a folder has some bytes.
fn holds(folder: &Path, bytes: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        content.windows(bytes.len()).any(|it| it == bytes)
    })
}

#[test]
fn many_rows_and_long_texts_go_in_parts() {
    let server = shared();
    let store = Box::new(Postgres::create(&server.url(), "many").unwrap());
    let ledger = Ledger::create(store, Arc::new(Counters), "many").unwrap();
    let drafts = (0..9_000).map(|n| add(&format!("c{}", n % 5_000), 1)).collect();
    ledger.write(|transaction| transaction.append(&command("ana"), drafts)).unwrap();
    let mut long = add("long", 1);
    long.texts = vec![text(&vec![7; 9 * 1024 * 1024]), text(b"short"), text(&vec![8; 3 * 1024 * 1024])];
    let expected = long.texts.clone();
    let seq = ledger.write(move |transaction| transaction.append(&command("ana"), vec![long])).unwrap().first;
    let found: Vec<_> = ledger.texts(seq).unwrap().into_iter().map(|row| row.text.unwrap()).collect();
    assert!(found == expected);
    assert_eq!(ledger.count(countersign_ledger::Table::Entity).unwrap(), 5_001);
}

#[test]
fn a_text_that_lies_where_none_is_put_is_found() {
    let server = shared();
    let store = Box::new(Postgres::create(&server.url(), "misplaced").unwrap());
    let ledger = Ledger::create(store, Arc::new(Counters), "misplaced").unwrap();
    let mut draft = add("all", 1);
    draft.texts = vec![text(&vec![7; 70_000]), text(b"short")];
    ledger.write(move |transaction| transaction.append(&command("ana"), vec![draft])).unwrap();
    let mut store = ledger.store().unwrap();
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
    let own = "project = (SELECT project FROM countersign.head WHERE name = 'misplaced')";
    let set = |n: u32, body: &str, blob: &str| {
        format!("UPDATE countersign.text SET body = {body}, blob = {blob} WHERE n = {n} AND {own};")
    };
    let name = "decode(repeat('07', 32), 'hex')";
    let keep = format!(
        "INSERT INTO countersign.blob SELECT DISTINCT project, {name}, 0, 'short'::bytea FROM countersign.text"
    );
    let table = [
        (0, format!("UPDATE countersign.blob SET hash = {name} WHERE {own}; {}", set(0, "NULL", name))),
        (
            0,
            format!(
                "DELETE FROM countersign.blob WHERE {own}; {}",
                set(0, "decode(repeat('78', 70000), 'hex')", "NULL")
            ),
        ),
        (1, format!("{keep} WHERE {own}; {}", set(1, "NULL", name))),
    ];
    for (n, change) in table {
        server.sql(&change);
        let found = store.examine().unwrap();
        let words = format!("text {n} of event 1 is not where a text of its length and hash is put");
        assert!(found.contains(&words), "{change}: {found:?}");
    }
}

#[test]
fn a_log_moves_from_a_file_to_a_server_and_back() {
    let (server, folder) = (shared(), tempfile::tempdir().unwrap());
    let file = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let ledger = Ledger::create(Box::new(file), Arc::new(Counters), "moving").unwrap();
    for round in 0..300 {
        let mut drafts = vec![add(&format!("c{}", round % 5), round % 4), add("all", 1)];
        drafts[0].texts =
            vec![text(format!("said in {round}").as_bytes()), text(&vec![7; 70_000 * usize::from(round == 7)])];
        drafts[1].erase = if round == 20 { vec![(3, 0), (15, 1)] } else { vec![] };
        let command = once("ana", &format!("key-{round}"), "request");
        ledger.write(move |transaction| transaction.append(&command, drafts)).unwrap();
    }
    let mut home = ledger.store().unwrap();
    home.scrub().unwrap();
    let head = home.head().unwrap();
    let mut away = Postgres::create(&server.url(), "moving").unwrap();
    assert_eq!(migrate(&mut *home, &mut away, &Counters, "away", &mut |_, _| {}).unwrap(), head);
    assert!(ledger.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).is_err());
    let all = || Verifying { from: 1, checkpoints: vec![] };
    assert_eq!(verify(&mut away, &Counters, &all(), &mut |_, _| {}).unwrap().findings, vec![]);
    rebuild(&mut away, &Counters, &mut |_| {}).unwrap();
    let there = Ledger::open(away.another().unwrap(), Arc::new(Counters)).unwrap();
    there.write(|transaction| transaction.append(&command("ana"), vec![add("all", 1)])).unwrap();
    assert_eq!(verify(&mut away, &Counters, &all(), &mut |_, _| {}).unwrap().findings, vec![]);
    let grown = away.head().unwrap();
    assert_eq!(migrate(&mut away, &mut *home, &Counters, "home", &mut |_, _| {}).unwrap(), grown);
    assert_eq!(verify(&mut *home, &Counters, &all(), &mut |_, _| {}).unwrap().findings, vec![]);
}
