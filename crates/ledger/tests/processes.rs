//! Many processes on one file: all of them write, none is lost, and one that stands still is named.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod appender;
mod dice;

use appender::{Running, Under, ask, commands, is_whole, open, start};
use countersign_ledger::conformance::{add, command};
use countersign_ledger::{Error, LeaseChange, Ledger, Refused};
use std::path::Path;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until something holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn run(role: &str, folder: &Path, name: &str) -> Running {
    start(role, folder, name, Under::Nothing)
}

#[test]
fn eight_processes_write_in_one_order_and_lose_nothing() {
    const PROCESSES: u64 = 8;
    let folder = tempfile::tempdir().unwrap();
    // They also make it: all of them at once, in an empty folder.
    let mut all: Vec<_> =
        (0..PROCESSES).map(|number| run("some", folder.path(), &format!("4-15-process{number}"))).collect();
    all.iter_mut().for_each(|it| drop(it.until("open")));
    all.iter_mut().for_each(|it| it.tell("go"));
    let heard: Vec<_> = all.into_iter().map(|it| it.finish().0).collect();
    let ledger = open(folder.path()).unwrap();
    let there = commands(&ledger);
    for heard in &heard {
        assert_eq!(heard.acknowledged().len(), 60, "{heard:#?}");
        heard.holds(&there);
    }
    assert_eq!(there.len() as u64, PROCESSES * 60);
    assert_eq!(ledger.head().unwrap().seq, PROCESSES * 120);
    is_whole(&ledger);
}

#[test]
fn a_process_with_one_write_gets_its_turn_beside_one_with_sixty_four() {
    const WRITES: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let mut crowd = run("some", folder.path(), "64-1000000-crowd");
    let mut hook = run("some", folder.path(), &format!("1-{WRITES}-hook"));
    crowd.until("open");
    hook.until("open");
    crowd.tell("go");
    crowd.until("ok ");
    hook.tell("go");
    let (heard, _) = hook.finish();
    let crowd = crowd.kill();
    assert_eq!(heard.acknowledged().len(), WRITES, "{heard:#?}");
    let took = heard.said.iter().filter_map(|it| it.strip_prefix("took ")).map(|it| it.parse::<u64>().unwrap());
    let mut took: Vec<_> = took.collect();
    took.sort_unstable();
    dice::count("µs for a single write beside 64 writers, p50", took[took.len() / 2]);
    dice::count("µs for a single write beside 64 writers, p99", took[took.len() * 99 / 100]);
    dice::count("µs for a single write beside 64 writers, longest", took[took.len() - 1]);
    let ledger = open(folder.path()).unwrap();
    let there = commands(&ledger);
    heard.holds(&there);
    crowd.holds(&there);
}

/// That a write is refused because the place is taken, and who is said to have it.
fn refused_as_busy(ledger: &Ledger, key: &str) -> String {
    let before = ledger.head().unwrap();
    let Err(Error::Busy { holder, waited_ms }) = ask(ledger, key) else { panic!("it was not busy") };
    assert_eq!(waited_ms, 300);
    assert_eq!(ledger.head().unwrap(), before);
    holder.unwrap_or_else(|| "nobody".to_owned())
}

fn hurried(folder: &Path) -> Ledger {
    open(folder).unwrap().with_patience(Duration::from_millis(300))
}

fn names(holder: &str, process: &Running) -> bool {
    holder.starts_with(&format!("process {} ", process.id())) && holder.ends_with("stopped")
}

#[test]
fn a_stopped_process_in_the_writers_place_is_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = hurried(folder.path());
    let mut holder = run("hold", folder.path(), "holder");
    holder.until("inside");
    holder.pause();
    let named = refused_as_busy(&ledger, "refused");
    assert!(names(&named, &holder), "{named}");
    holder.go_on();
    holder.tell("go on");
    let (heard, _) = holder.finish();
    assert_eq!(heard.acknowledged().len(), 1);
    // The same handle goes on; what it was refused it has not done.
    let ledger = ledger.with_patience(DEADLINE);
    ask(&ledger, "later").unwrap();
    let there = commands(&ledger);
    heard.holds(&there);
    assert_eq!(there.len(), 2);
    is_whole(&ledger);
}

#[test]
fn a_ledger_is_closed_at_once_while_another_process_stands_in_the_writers_place() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = hurried(folder.path());
    let mut holder = run("hold", folder.path(), "holder");
    holder.until("inside");
    holder.pause();
    refused_as_busy(&ledger, "refused");
    let closing = std::thread::spawn(move || drop(ledger));
    wait_until("the end of the ledger", || closing.is_finished());
    holder.go_on();
    holder.tell("go on");
    holder.finish().0.holds(&commands(&open(folder.path()).unwrap()));
}

#[test]
fn a_process_that_was_stopped_while_it_waited_for_its_turn_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = hurried(folder.path());
    let mut first = run("hold", folder.path(), "first");
    first.until("inside");
    let mut second = run("hold", folder.path(), "second");
    second.until("ask ");
    let waits = format!(" {} ", second.id());
    let waiting = || {
        let locks = std::fs::read_to_string("/proc/locks").unwrap();
        locks.lines().any(|line| line.contains("->") && line.contains(&waits))
    };
    wait_until("the second one at the door", waiting);
    second.pause();
    first.tell("go on");
    first.finish();
    let named = refused_as_busy(&ledger, "refused");
    assert!(names(&named, &second), "{named}");
    second.go_on();
    second.until("inside");
    second.tell("go on");
    assert_eq!(second.finish().0.acknowledged().len(), 1);
    let ledger = ledger.with_patience(DEADLINE);
    ask(&ledger, "later").unwrap();
    assert_eq!(commands(&ledger).len(), 3);
}

#[test]
fn a_paused_process_that_wakes_with_an_old_lease_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path()).unwrap();
    let mut sleeper = run("lease", folder.path(), "sleeper");
    let granted = sleeper.until("granted ");
    sleeper.pause();
    let grant = || {
        let mut draft = add("grants", 1);
        draft.id = Some("next.0".to_owned());
        let name = "door".to_owned();
        draft.lease = Some(LeaseChange::Grant { holder: "next".to_owned(), name, ttl: 600_000 });
        let command = countersign_ledger::Command { once: None, ..command("next") };
        ledger.write(move |transaction| transaction.append(&command, vec![draft]))
    };
    wait_until("the end of the lease", || match grant() {
        Ok(_) => true,
        Err(Error::Refused(Refused::LeaseHeld { .. })) => false,
        Err(other) => panic!("{other}"),
    });
    let before = ledger.head().unwrap();
    sleeper.go_on();
    sleeper.tell("go on");
    let (heard, _) = sleeper.finish();
    let number = granted.strip_prefix("granted ").unwrap();
    let refusal = format!("the lease {number} on `door` is no longer held: number {} was granted to next", before.seq);
    let answer = format!("{:?}", heard.answers);
    assert!(answer.contains(&refusal), "{answer}");
    assert!(heard.said.iter().any(|it| it.starts_with("renewed Err(Refused(LeaseLost")), "{heard:?}");
    assert_eq!(ledger.head().unwrap(), before);
}
