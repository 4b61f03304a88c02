//! How fast the ledger is, each time beside what bounds it, in the same run.
//!
//! ```text
//! cargo bench -p countersign-ledger                      everything but `large`
//! cargo bench -p countersign-ledger --bench ledger -- many
//! cargo bench -p countersign-ledger --bench ledger -- large 5000000
//! ```
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a program that measures")]

mod bare;
mod load;
mod raw;

use countersign_ledger::conformance::{Counters, once, postgres_server};
use countersign_ledger::{Chain, Clock, Fold, Ledger, Postgres, Sqlite, Verifying, export, pages, tree, verify};
use load::{COUNTERS, append, concurrently, draft};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// As in the binary that is shipped.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const PROJECT: &str = "bench";
const PASSES: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [role, path] = arguments.as_slice()
        && role == CROWD
    {
        return crowd(Path::new(path));
    }
    let wants = |name: &str| arguments.is_empty() || arguments.iter().any(|it| it == name);
    println!("events of {} bytes; each changes an entity, its place and a key", event_bytes());
    if wants("one") {
        one_client();
    }
    if wants("many") {
        many_clients();
    }
    if wants("hook") {
        hook();
    }
    if wants("fold") {
        fold();
    }
    if wants("postgres") {
        postgres();
    }
    if arguments.iter().any(|it| it == "large") {
        let count = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(5_000_000);
        large(count);
    }
}

fn event_bytes() -> usize {
    let (folder, ledger) = ledger();
    append(&ledger, 0);
    let length = ledger.events(1, None, 1).unwrap()[0].body.len();
    drop(folder);
    length
}

fn ledger() -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir_in(place()).unwrap();
    let store = Sqlite::create(&folder.path().join("ledger.db"), Clock::System).unwrap();
    let ledger = Ledger::create(Box::new(store), Arc::new(Counters), PROJECT).unwrap();
    (folder, ledger)
}

/// On the disk that is measured, which a temporary folder may not be.
fn place() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// How many times a second this disk syncs a page that was added to a file.
fn syncs(for_how_long: Duration) -> f64 {
    let mut file = tempfile::tempfile_in(place()).unwrap();
    let page = [7u8; 4096];
    let started = Instant::now();
    let mut count = 0;
    while started.elapsed() < for_how_long {
        file.write_all(&page).unwrap();
        File::sync_data(&file).unwrap();
        count += 1;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

fn one_client() {
    let (_folder, ledger) = ledger();
    let mut number = 0;
    let mut ratios = Vec::new();
    for pass in 0..PASSES {
        let limit = syncs(Duration::from_secs(1));
        let started = Instant::now();
        let from = number;
        while started.elapsed() < Duration::from_secs(1) {
            append(&ledger, number);
            number += 1;
        }
        let rate = (number - from) as f64 / started.elapsed().as_secs_f64();
        let limit = f64::midpoint(limit, syncs(Duration::from_secs(1)));
        ratios.push(rate / limit);
        println!("one client, pass {pass}: {rate:.0} a second, fdatasync {limit:.0}: {:.0} %", 100.0 * rate / limit);
    }
    println!("one client: {:.0} % of this disk's fdatasync rate (median)", 100.0 * median(&mut ratios));
}

fn many_clients() {
    const EVENTS: u64 = 40_000;
    let (mut ratios, mut bare_ratios) = (Vec::new(), Vec::new());
    let bytes = event_bytes();
    for pass in 0..PASSES {
        let (_folder, ledger) = ledger();
        let before = processor_seconds();
        let rate = concurrently(&ledger, 64, 0, EVENTS);
        let spent = (processor_seconds() - before) * 1e6 / EVENTS as f64;
        let rows = raw::same_rows(place(), EVENTS, 100, bytes);
        let bare = raw::bare_events(place(), EVENTS, 100, bytes);
        let threads = by_threads(&self::ledger().1, 64, EVENTS);
        ratios.push(rate / rows);
        bare_ratios.push(rate / bare);
        println!(
            "64 clients, pass {pass}: {rate:.0} a second ({spent:.0} µs of processor time each), raw SQLite with the same rows {rows:.0}: {:.0} %, bare events {bare:.0}: {:.0} %; with a thread for each client {threads:.0}: {:.0} %",
            100.0 * rate / rows,
            100.0 * rate / bare,
            100.0 * threads / rows
        );
    }
    println!(
        "64 clients: {:.0} % of raw SQLite with the same rows, {:.0} % of bare events (median)",
        100.0 * median(&mut ratios),
        100.0 * median(&mut bare_ratios)
    );
}

/// How much processor time this process has spent, where the system tells.
fn processor_seconds() -> f64 {
    const TICKS: f64 = 100.0;
    let told = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may have anything in it: user and system time are the 12th and 13th field.
    let fields = told.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / TICKS
}

/// How many appends a second clients do together that have a thread each.
fn by_threads(ledger: &Ledger, clients: u64, events: u64) -> f64 {
    let next = AtomicU64::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= events {
                        return;
                    }
                    append(ledger, number);
                }
            });
        }
    });
    events as f64 / started.elapsed().as_secs_f64()
}

/// What this program is called with to be the server beside which a hook writes.
const CROWD: &str = "crowd";

fn open(path: &Path) -> Ledger {
    Ledger::open(Box::new(Sqlite::open(path, Clock::System).unwrap()), Arc::new(Counters)).unwrap()
}

/// A server of 64 clients that write without a pause, until it is ended.
fn crowd(path: &Path) {
    let ledger = open(path);
    append(&ledger, 0);
    println!("at work");
    let next = AtomicU64::new(1);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                loop {
                    append(&ledger, next.fetch_add(1, Ordering::Relaxed));
                }
            });
        }
    });
}

/// How long a hook takes, which opens the ledger, writes one event and ends, while another process with 64 clients writes
/// to the same file.
fn hook() {
    const WRITES: usize = 500;
    const FIRST: u64 = 1 << 40;
    let (folder, ledger) = ledger();
    let path = folder.path().join("ledger.db");
    let mut server = Command::new(std::env::current_exe().unwrap());
    let mut server = server.arg(CROWD).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let (before, started) = (ledger.head().unwrap().seq, Instant::now());
    let mut took = Vec::new();
    for number in FIRST..FIRST + WRITES as u64 {
        let started = Instant::now();
        append(&open(&path), number);
        took.push(started.elapsed().as_secs_f64() * 1000.0);
    }
    let written = ledger.head().unwrap().seq - before - WRITES as u64;
    let rate = written as f64 / started.elapsed().as_secs_f64();
    server.kill().unwrap();
    server.wait().unwrap();
    took.sort_by(f64::total_cmp);
    println!(
        "a hook beside a server of 64 clients ({rate:.0} a second): p50 {:.1} ms, p99 {:.1} ms, longest {:.1} ms (limit of p99: 1000)",
        took[WRITES / 2],
        took[WRITES * 99 / 100],
        took[WRITES - 1]
    );
}

/// The same on PostgreSQL, beside pgbench with as many clients that insert one row each.
fn postgres() {
    const EVENTS: u64 = 40_000;
    let server = postgres_server::Server::start();
    drop(Postgres::create(&server.url(), "bare").unwrap());
    bare::prepare(&server);
    let bytes = event_bytes();
    let mut ratios = Vec::new();
    for pass in 0..PASSES {
        let store = Postgres::create(&server.url(), &format!("bench-{pass}")).unwrap();
        let ledger = Ledger::create(Box::new(store), Arc::new(Counters), PROJECT).unwrap();
        let rate = concurrently(&ledger, 64, 0, EVENTS);
        let bare = bare::inserts(&server, 64, bytes);
        ratios.push(rate / bare);
        println!(
            "PostgreSQL, 64 clients, pass {pass}: {rate:.0} a second, pgbench with bare inserts {bare:.0}: {:.0} %",
            100.0 * rate / bare
        );
    }
    println!("PostgreSQL, 64 clients: {:.0} % of pgbench with bare inserts (median)", 100.0 * median(&mut ratios));
}

/// Fills a ledger in large transactions.
fn fill(ledger: &Ledger, events: u64) {
    const BATCH: u64 = 1000;
    for from in (0..events).step_by(BATCH as usize) {
        let drafts: Vec<_> = (from..(from + BATCH).min(events)).map(draft).collect();
        let command = once("ana", &format!("fill-{from}"), "request");
        ledger.write(move |transaction| transaction.append(&command, drafts)).unwrap();
    }
}

fn fold() {
    const EVENTS: u64 = 1_000_000;
    let (_folder, ledger) = ledger();
    fill(&ledger, EVENTS);
    let mut store = ledger.store().unwrap();
    for pass in 0..3 {
        let started = Instant::now();
        let mut chain = Chain::start(PROJECT);
        let mut entities: HashMap<countersign_ledger::Key, countersign_ledger::Entity> = HashMap::new();
        pages::hashed(&mut *store, 1, EVENTS, &mut |row, hashes| {
            let event = chain.follow_hashed(&row, hashes).unwrap();
            for key in Counters.touched(&event) {
                let before = entities.get(&key);
                let version = before.map_or(0, |it| it.version) + 1;
                if let Some(state) = Counters.evolve(&key, before, &event) {
                    let entity = countersign_ledger::Entity {
                        key: key.clone(),
                        seq: event.seq,
                        version,
                        birth: 1,
                        shape: 1,
                        matter: state.matter,
                        class: state.class,
                        facts: state.facts,
                    };
                    entities.insert(key, entity);
                }
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(entities.len() as u64, COUNTERS);
        let rate = EVENTS as f64 / started.elapsed().as_secs_f64();
        println!("read, verify the chain and fold, pass {pass}: {rate:.0} events a second (aim: 300000)");
    }
}

fn large(events: u64) {
    let (folder, ledger) = ledger();
    let path = folder.path().join("ledger.db");
    drop(ledger);
    let open = || open(&path);
    let started = Instant::now();
    fill(&open(), events);
    println!("{events} events were written in {:.0} s", started.elapsed().as_secs_f64());
    for _ in 0..3 {
        let started = Instant::now();
        drop(open());
        println!("opened in {:.1} ms (aim: 50)", started.elapsed().as_secs_f64() * 1000.0);
    }
    let full = open();
    let mut ratios = Vec::new();
    for pass in 0..PASSES as u64 {
        let (_folder, empty) = self::ledger();
        const EVENTS: u64 = 20_000;
        let empty = concurrently(&empty, 64, 0, EVENTS);
        let full = concurrently(&full, 64, (10 + pass) * events, EVENTS);
        println!(
            "64 clients, pass {pass}: {empty:.0} a second when empty, {full:.0} here: {:.0} %",
            100.0 * full / empty
        );
        ratios.push(full / empty);
    }
    println!("appends: {:.0} % of an empty ledger's (median; aim: 80)", 100.0 * median(&mut ratios));
    let mut store = full.store().unwrap();
    let started = Instant::now();
    tree::root_at(&mut *store, events).unwrap();
    let proof = tree::prove_event(&mut *store, events, events / 3).unwrap();
    println!("root and proof ({} hashes) in {:.1} ms", proof.len(), started.elapsed().as_secs_f64() * 1000.0);
    let end = store.head().unwrap().seq;
    // A tenth and then all of it: what is flat is the same for both.
    for from in [end - end / 10, 1] {
        let peak = peak_kib(|| {
            let head = export(&mut *store, PROJECT, from, None, &mut std::io::sink(), &mut |_, _| {}).unwrap();
            assert_eq!(head.seq, end);
        });
        println!("exported {} events with {peak} KiB at most", end + 1 - from);
    }
    let started = Instant::now();
    let peak = peak_kib(|| {
        let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
        assert!(verified.findings.is_empty(), "{:?}", verified.findings);
        println!("verified {} events and {} rows", verified.events, verified.rows);
    });
    println!("that took {:.0} s and {peak} KiB at most", started.elapsed().as_secs_f64());
}

/// The most memory that this process had while something was done.
fn peak_kib(work: impl FnOnce()) -> u64 {
    // From here on the system counts anew.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    work();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|it| it.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
