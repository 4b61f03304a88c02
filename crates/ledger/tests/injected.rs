//! Each system call that matters fails or is the last one, one after the other, and nothing that was said is untrue.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod appender;
mod dice;

use appender::{Answer, Heard, Under, ask, commands, is_whole, open, start};
use dice::Dice;
use std::path::Path;

/// Writing and syncing, as SQLite and the standard library do it.
const WRITES: &str = "pwrite64,ftruncate";
const SYNCS: &str = "fdatasync,fsync";
const NAMES: &str = "rename,renameat,renameat2,unlink,unlinkat,mkdir,link,linkat";
/// The calls of long texts, which are written as files.
const FILES: &str = "write";
const OPENINGS: &str = "openat";
/// How many faults in a row do no harm to the making of a ledger before it is taken to be made.
const HARMLESS_MAX: u32 = 6;

/// A fault: at which calls, what, and how often in a row.
#[derive(Clone, Copy)]
struct Fault<'a>(&'a str, &'a str, u64);

/// How a life with a fault in it went.
struct Life {
    /// Whether the fault came about.
    met: bool,
    /// Whether the ledger was open before it did.
    open: bool,
    heard: Heard,
}

/// A short life with a fault in it, from the `number`th of its calls on, counted in each thread. It begins with nothing, or
/// with a ledger that is there already.
fn live(Fault(calls, what, often): Fault<'_>, number: u64, made_before: bool) -> Life {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    if made_before {
        drop(open(&home).unwrap());
    }
    let log = folder.path().join("strace.log");
    let inject = format!("{calls}:{what}:when={number}..{}", number + often - 1);
    let running = start("script", &home, "s", Under::Strace { inject: &inject, at: &[], log: &log });
    let (heard, status) = running.finish();
    let said = |begins: &str| heard.said.iter().any(|it| it.starts_with(begins));
    let killed = what.starts_with("signal");
    let met = if killed { !said("end") } else { std::fs::read_to_string(&log).unwrap().contains("(INJECTED)") };
    // A fault that hits the test harness before it has begun is none of ours.
    let begun = !heard.asked.is_empty() || said("un");
    assert!(killed || said("end") || !begun, "{inject}: it did not go on ({status}): {heard:#?}");
    take_up(&home, &heard);
    Life { met, open: said("open") && !said("unopened"), heard }
}

fn take_up(folder: &Path, heard: &Heard) {
    let ledger = open(folder).unwrap();
    let there = commands(&ledger);
    heard.holds(&there);
    is_whole(&ledger);
    for key in heard.open().iter().filter(|key| !heard.refused().contains(key)) {
        ask(&ledger, key).unwrap();
    }
    ask(&ledger, "after").unwrap();
    is_whole(&ledger);
    heard.holds(&commands(&ledger));
}

#[derive(Default)]
struct Tally {
    met: u64,
    not_written: u64,
    unknown: u64,
}

/// A life for each of the calls, until there are no more of them. Outside of a soak, for each `stride`th.
fn sweep(fault: Fault<'_>, stride: u64) {
    let Fault(calls, what, often) = fault;
    let mut tally = Tally::default();
    let stride = if dice::soak().is_some() { 1 } else { stride };
    let mut dice = Dice::thrown();
    for made_before in [false, true] {
        let mut number = 1 + dice.below(stride);
        let mut harmless = 0;
        loop {
            let life = live(fault, number, made_before);
            // What comes after the ledger was made is gone through with one that was made before. A single fault that did
            // not keep it from being made is no sign of that: SQLite gets over some.
            harmless = if life.open && !made_before { harmless + 1 } else { 0 };
            if !life.met || harmless == HARMLESS_MAX {
                break;
            }
            tally.add(&life);
            number += stride;
        }
    }
    assert!(tally.met > 0, "{calls} was never met");
    let at = format!("{what} at {}", calls.replace(',', "/"));
    dice::count(&format!("lives with {at} (times {often})"), tally.met);
    if !what.starts_with("signal") {
        dice::count(&format!("answers `not written` to {at}, none of them there"), tally.not_written);
        dice::count(&format!("answers `unknown` to {at}, each resolved by its key"), tally.unknown);
    }
}

impl Tally {
    fn add(&mut self, life: &Life) {
        self.met += 1;
        for answer in life.heard.answers.values().flatten() {
            self.not_written += u64::from(matches!(answer, Answer::Not(_)));
            self.unknown += u64::from(matches!(answer, Answer::Unknown(_)));
        }
    }
}

#[test]
fn a_process_killed_at_any_write_has_kept_what_it_acknowledged() {
    sweep(Fault(WRITES, "signal=KILL", 1), 2);
}

#[test]
fn a_process_killed_at_any_sync_has_kept_what_it_acknowledged() {
    sweep(Fault(SYNCS, "signal=KILL", 1), 1);
}

#[test]
fn a_process_killed_at_any_change_of_a_name_has_kept_what_it_acknowledged() {
    sweep(Fault(NAMES, "signal=KILL", 1), 1);
    sweep(Fault(FILES, "signal=KILL", 1), 2);
    sweep(Fault(OPENINGS, "signal=KILL", 1), 5);
}

#[test]
fn a_write_that_fails_is_told_and_not_there() {
    sweep(Fault(WRITES, "error=EIO", 1), 3);
}

#[test]
fn a_sync_that_fails_is_told_and_resolved() {
    sweep(Fault(SYNCS, "error=EIO", 1), 1);
    // The disk fails again while it is looked for what became of the first commit.
    sweep(Fault(SYNCS, "error=EIO", 3), 2);
}

#[test]
fn a_full_disk_at_any_write_is_told_and_not_there() {
    sweep(Fault(WRITES, "error=ENOSPC", 1), 3);
    sweep(Fault(SYNCS, "error=ENOSPC", 1), 1);
}

#[test]
fn a_file_that_cannot_be_named_or_opened_is_told_and_not_there() {
    sweep(Fault(NAMES, "error=EIO", 1), 1);
    sweep(Fault(OPENINGS, "error=EIO", 1), 5);
    sweep(Fault(FILES, "error=ENOSPC", 1), 2);
}

#[test]
fn a_disk_that_fails_when_the_file_is_opened_is_told_as_that() {
    for end in ["", "-wal", "-shm"] {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir(&home).unwrap();
        ask(&open(&home).unwrap(), "before").unwrap();
        let (log, at) = (folder.path().join("strace.log"), [home.join(format!("ledger.db{end}"))]);
        let under = Under::Strace { inject: "openat:error=EIO:when=1..4", at: &at, log: &log };
        let (heard, _) = start("script", &home, "s", under).finish();
        let told: Vec<&String> = heard.said.iter().filter(|it| it.starts_with("unopened ")).collect();
        assert!(!told.is_empty(), "{end}: {heard:#?}");
        for told in told {
            assert!(told.contains("the disk failed") && !told.contains("permissions"), "{end}: {told}");
        }
        take_up(&home, &heard);
    }
}
