//! What was acknowledged is there once, whatever happens to the server. `COUNTERSIGN_SOAK` gives the minutes to go on for;
//! without it a few rounds are gone through.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use countersign_ledger::conformance::postgres_server::{Server, eventually};
use countersign_ledger::conformance::{Counters, add, command, once, value_of};
use countersign_ledger::{Error, Event, Hash, Key, Ledger, Postgres, Recorded, Table, Transaction};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PROJECT: &str = "test-project";
/// After how many more answers something happens to the server.
const BETWEEN: u64 = 300;
/// So many clients of one ledger that their commits follow on each other in one turn.
const CROWD: usize = 64;

fn create(url: &str) -> Ledger {
    let store = Box::new(Postgres::create(url, PROJECT).unwrap());
    Ledger::create(store, Arc::new(Counters), PROJECT).unwrap()
}

fn open(url: &str) -> Ledger {
    Ledger::open(Box::new(Postgres::open(url, PROJECT).unwrap()), Arc::new(Counters)).unwrap()
}

/// Adds to a counter, once for a key however often it is asked.
fn add_once(
    actor: &str,
    key: &str,
) -> impl FnOnce(&mut Transaction<'_>) -> countersign_ledger::Result<Recorded> + use<> {
    let (command, draft) = (once(actor, key, key), add(actor, 1));
    move |transaction| match transaction.remembered(&command)? {
        Some(done) => Ok(Recorded { first: done.first, last: done.last }),
        None => transaction.append(&command, vec![draft]),
    }
}

/// Many clients, each with a connection of its own, that write and repeat what failed until they are told to stop.
struct Load {
    stop: AtomicBool,
    answered: AtomicU64,
    /// What was acknowledged: actor and key, and where.
    kept: Mutex<HashMap<(String, String), Recorded>>,
}

impl Load {
    /// Writes with many clients while `happens` happens, and gives what was acknowledged. There are ledgers with so many clients
    /// each, as processes would have them.
    fn run(url: &str, ledgers: &[usize], happens: impl FnOnce(&Load)) -> HashMap<(String, String), Recorded> {
        let ledgers: Vec<_> = ledgers.iter().map(|clients| (open(url), *clients)).collect();
        let load = Load { stop: AtomicBool::new(false), answered: AtomicU64::new(0), kept: Mutex::default() };
        std::thread::scope(|scope| {
            for (number, (ledger, clients)) in ledgers.iter().enumerate() {
                for client in 0..*clients {
                    let load = &load;
                    scope.spawn(move || load.write(ledger, &format!("client-{number}-{client}")));
                }
            }
            happens(&load);
            load.stop.store(true, Ordering::SeqCst);
        });
        load.kept.into_inner().unwrap()
    }

    fn write(&self, ledger: &Ledger, actor: &str) {
        for round in 0.. {
            let key = format!("key-{round}");
            let recorded = insist(ledger, actor, &key);
            self.kept.lock().unwrap().insert((actor.to_owned(), key), recorded);
            self.answered.fetch_add(1, Ordering::SeqCst);
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
        }
    }

    /// Waits until that many more writes were acknowledged.
    fn more(&self, count: u64) {
        let before = self.answered.load(Ordering::SeqCst);
        eventually("clients are answered", || self.answered.load(Ordering::SeqCst) >= before + count);
    }
}

/// Repeats a write with its key until it is acknowledged.
fn insist(ledger: &Ledger, actor: &str, key: &str) -> Recorded {
    let started = Instant::now();
    loop {
        match ledger.write(add_once(actor, key)) {
            Ok(recorded) => return recorded,
            Err(Error::NotWritten(_) | Error::Unknown(_) | Error::Away(_) | Error::Busy { .. })
                if started.elapsed() < Duration::from_secs(60) =>
            {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => panic!("{actor} {key}: {error}"),
        }
    }
}

/// Every acknowledged write is there, exactly once and where it was said to be; nothing else is; the chain holds.
fn assert_kept(url: &str, kept: &HashMap<(String, String), Recorded>) {
    let ledger = open(url);
    let mut found: HashMap<(String, String), u64> = HashMap::new();
    let (mut prev, mut next) = (Hash::NONE, 1);
    loop {
        let page = ledger.events(next, None, 1_000).unwrap();
        for row in &page {
            let event = Event::read(&row.body).unwrap();
            assert_eq!((event.seq, event.prev), (next, prev));
            prev = Hash::of(row.body.as_bytes());
            assert_eq!(row.hash, prev);
            let key = event.once.unwrap().key.to_owned();
            assert_eq!(found.insert((event.actor.to_owned(), key), next), None, "event {next} is there twice");
            next += 1;
        }
        if page.is_empty() {
            break;
        }
    }
    let expected: HashMap<_, _> = kept.iter().map(|(key, recorded)| (key.clone(), recorded.first)).collect();
    assert_eq!(found.len(), expected.len());
    assert_eq!(found, expected);
    assert_eq!(ledger.count(Table::Remembered).unwrap(), expected.len() as u64);
    let mut counts: HashMap<&str, i64> = HashMap::new();
    kept.keys().for_each(|(actor, _)| *counts.entry(actor).or_default() += 1);
    for (actor, count) in counts {
        let counter = ledger.get(&[Key::new("counter", actor)]).unwrap().remove(0).unwrap();
        assert_eq!(value_of(&counter), count, "{actor}");
    }
}

/// How often something happens in the short form, or until when in the long one.
fn rounds(short: usize) -> impl Iterator<Item = usize> {
    let minutes = std::env::var("COUNTERSIGN_SOAK").ok().and_then(|it| it.parse::<f64>().ok());
    let started = Instant::now();
    (0..).take_while(move |round| match minutes {
        Some(minutes) => started.elapsed() < Duration::from_secs_f64(60.0 * minutes),
        None => *round < short,
    })
}

#[test]
fn a_server_that_crashes_under_load_loses_and_doubles_nothing() {
    // Each in its turn, and many whose commits follow on each other in one.
    for ledgers in [[1; 32].as_slice(), &[CROWD]] {
        let server = Server::start();
        drop(create(&server.url()));
        let kept = Load::run(&server.url(), ledgers, |load| {
            for round in rounds(4) {
                load.more(BETWEEN);
                if round % 2 == 0 {
                    server.crash()
                } else {
                    server.kill()
                }
                server.run();
            }
            load.more(BETWEEN);
        });
        println!("{} writes were acknowledged", kept.len());
        assert_kept(&server.url(), &kept);
    }
}

#[test]
fn who_writes_beside_a_crowd_gets_a_turn() {
    // A turn ends soon after somebody is seen in line, and not when the crowd has nothing more to write.
    const BETWEEN_MAX: u64 = 5_000;
    let server = Server::start();
    drop(create(&server.url()));
    let mut own = HashMap::new();
    let mut kept = Load::run(&server.url(), &[CROWD], |load| {
        let other = open(&server.url());
        load.more(BETWEEN);
        for round in 0..10 {
            let (key, before) = (format!("key-{round}"), other.head().unwrap().seq);
            let recorded = insist(&other, "other", &key);
            assert!(recorded.first - before < BETWEEN_MAX, "{} events came before it", recorded.first - before);
            own.insert(("other".to_owned(), key), recorded);
            load.more(1);
        }
    });
    kept.extend(own);
    assert_kept(&server.url(), &kept);
}

#[test]
fn a_crowd_writes_also_where_there_are_few_connections_to_be_had() {
    // One was made to open the ledger, and one to write. There is none to read from meanwhile.
    let server = Server::start();
    drop(create(&server.url()));
    server.sql("CREATE ROLE few LOGIN CONNECTION LIMIT 2; GRANT postgres TO few");
    let ledger = open(&server.url().replace("postgres@", "few@"));
    let clients: Vec<_> = (0..CROWD).map(|client| format!("client-{client}")).collect();
    std::thread::scope(|scope| {
        for client in &clients {
            let write = |n: usize| ledger.write(add_once(client, &format!("key-{n}"))).map(drop);
            scope.spawn(move || assert_eq!((0..30).try_for_each(write), Ok(())));
        }
    });
    assert_eq!(ledger.head().unwrap().seq, 30 * CROWD as u64);
}

#[test]
fn a_promoted_standby_has_all_that_was_acknowledged() {
    let mut servers = vec![Server::start()];
    drop(create(&servers[0].url()));
    for _ in rounds(1) {
        // The ledger goes from standby to standby; each round begins with what is there.
        let before = kept_so_far(&servers[0].url());
        let primary = servers.remove(0);
        let standby = primary.standby();
        let url = Server::url_of(&[&primary, &standby]);
        let mut kept = Load::run(&url, &[CROWD, 1, 1, 1, 1], |load| {
            load.more(BETWEEN);
            primary.kill();
            standby.promote();
            load.more(BETWEEN);
        });
        println!("{} writes were acknowledged", kept.len());
        kept.extend(before);
        assert_kept(&standby.url(), &kept);
        servers.push(standby);
    }
}

fn kept_so_far(url: &str) -> HashMap<(String, String), Recorded> {
    let (ledger, mut kept) = (open(url), HashMap::new());
    while let Some(row) = ledger.events(kept.len() as u64 + 1, None, 1).unwrap().first() {
        let event = Event::read(&row.body).unwrap();
        let key = (event.actor.to_owned(), event.once.unwrap().key.to_owned());
        kept.insert(key, Recorded { first: row.seq, last: row.seq });
    }
    kept
}

#[test]
fn a_commit_without_an_answer_is_resolved() {
    let server = Server::start();
    let ledger = create(&server.url());
    let proxy = Proxy::before(&server.sockets());
    let through = open(&proxy.url());
    for round in 0..10 {
        // The server commits, and nobody hears of it.
        proxy.cut(Cut::Answer);
        let key = format!("answer-{round}");
        let recorded = through.write(add_once("ana", &key)).unwrap();
        assert_eq!(ledger.head().unwrap().seq, recorded.last);
        assert!(proxy.has_cut());
        // The server is never asked to commit.
        proxy.cut(Cut::Question);
        let key = format!("question-{round}");
        let lost = through.write(add_once("ana", &key));
        assert!(matches!(lost, Err(Error::NotWritten(_))), "{lost:?}");
        assert_eq!(ledger.head().unwrap().seq, recorded.last);
        assert!(proxy.has_cut());
        let repeated = through.write(add_once("ana", &key)).unwrap();
        assert_eq!(repeated.first, recorded.last + 1);
        assert_eq!(through.write(add_once("ana", &key)).unwrap(), repeated);
    }
    assert_eq!(ledger.head().unwrap().seq, 20);
}

#[test]
fn a_transaction_whose_connection_ends_leaves_nothing_and_sees_nothing_more() {
    let server = Arc::new(Server::start());
    let ledger = create(&server.url());
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("a", 1)])).unwrap();
    for when in ["before", "after"] {
        let server = Arc::clone(&server);
        let broken = ledger.write(move |transaction| {
            let key = [Key::new("counter", "a")];
            let cut = || {
                server.sql(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE state = 'idle in transaction'",
                )
            };
            if when == "before" {
                cut();
                // A new connection would answer, from outside of the transaction.
                assert!(transaction.get(&key).is_err());
                assert!(transaction.get(&key).is_err());
                return Ok(());
            }
            transaction.append(&command("ana"), vec![add("a", 1)])?;
            cut();
            Ok(())
        });
        if when == "after" {
            assert!(matches!(broken, Err(Error::NotWritten(_) | Error::Away(_))), "{broken:?}");
        }
        assert_eq!(ledger.head().unwrap().seq, 1);
    }
    ledger.write(|transaction| transaction.append(&command("ana"), vec![add("a", 1)])).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 2);
}

#[test]
fn a_handle_that_was_idle_while_the_server_restarted_works_at_once() {
    let server = Server::start();
    let ledger = create(&server.url());
    ledger.write(add_once("ana", "one")).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 1);
    server.crash();
    assert!(ledger.head().is_err());
    assert!(matches!(ledger.write(add_once("ana", "two")), Err(Error::NotWritten(_))));
    server.run();
    assert_eq!(ledger.head().unwrap().seq, 1);
    ledger.write(add_once("ana", "two")).unwrap();
    server.crash();
    server.run();
    ledger.write(add_once("ana", "three")).unwrap();
    assert_eq!(ledger.head().unwrap().seq, 3);
}

/// What of a commit is lost on the way.
#[derive(Clone, Copy)]
enum Cut {
    Question = 1,
    Answer = 2,
}

/// A way to the server on which messages can be lost.
struct Proxy {
    folder: tempfile::TempDir,
    cut: Arc<AtomicU8>,
}

impl Proxy {
    fn before(sockets: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let cut = Arc::new(AtomicU8::new(0));
        let (server, shared) = (sockets.join(".s.PGSQL.5432"), Arc::clone(&cut));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else { continue };
                let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
                let (asked, answered) = (Arc::clone(&shared), Arc::clone(&shared));
                let mut commit = None;
                std::thread::spawn(move || {
                    pass(client, server, |sent| asks_commit(sent, &mut commit), Cut::Question, &asked);
                });
                std::thread::spawn(move || {
                    let tells = |sent: &[u8]| sent.windows(12).any(|it| it == b"C\0\0\0\x0bCOMMIT\0");
                    pass(from_server, to_client, tells, Cut::Answer, &answered);
                });
            }
        });
        Self { folder, cut }
    }

    fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.folder.path().to_string_lossy().replace('/', "%2F"))
    }

    fn cut(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }

    fn has_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst) == 0
    }
}

/// Passes on what comes, until the message that is to be lost; with that the connection ends on both sides.
fn pass(mut from: UnixStream, mut to: UnixStream, mut is_it: impl FnMut(&[u8]) -> bool, cut: Cut, armed: &AtomicU8) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let sent = &buffer[..length];
        let lost = is_it(sent) && armed.compare_exchange(cut as u8, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        if lost || to.write_all(sent).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(std::net::Shutdown::Both), to.shutdown(std::net::Shutdown::Both));
}

/// Whether a client asks for a commit, by itself or after other things: it binds the statement whose text that is.
fn asks_commit(sent: &[u8], commit: &mut Option<Vec<u8>>) -> bool {
    const TEXT: &[u8] = b"\0COMMIT\0";
    if let Some(at) = sent.windows(TEXT.len()).position(|it| it == TEXT) {
        let start = sent[..at].iter().rposition(|byte| *byte == 0).unwrap() + 1;
        // The name follows the message's length, of which the last byte is not zero.
        *commit = Some([&sent[start + 1..at], b"\0"].concat());
    }
    // A letter, the message's length in four bytes, a portal without a name, and the statement's.
    let binds =
        |at: usize, bound: &[u8]| sent[at] == b'B' && sent.get(at + 5..).is_some_and(|it| it.starts_with(bound));
    let bound = commit.as_ref().map(|name| [b"\0", name.as_slice()].concat());
    bound.is_some_and(|bound| (0..sent.len()).any(|at| binds(at, &bound)))
}
