//! A program that appends and says what it was told, for tests that end it at bad moments.
//!
//! A test binary runs itself as this program. What it says are lines with a mark, one before and one after each write, so
//! that whoever reads them knows what was asked and what was acknowledged, wherever it ends.
#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests; not each of them uses all of it"
)]

mod heard;
mod roles;
mod running;

pub use heard::{Answer, Heard};
pub use roles::{ask, begin, open};
pub use running::{Running, Under, start, strace_is_here};

use countersign_ledger::conformance::Counters;
use countersign_ledger::{Event, Finding, Ledger, Verifying, verify};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const PROJECT: &str = "test-project";
/// What stands before each line that is said.
const MARK: char = '~';
/// As what this process runs; only a test's own child has it.
const ROLE: &str = "COUNTERSIGN_APPENDER";
const FOLDER: &str = "COUNTERSIGN_APPENDER_FOLDER";
const NAME: &str = "COUNTERSIGN_APPENDER_NAME";
/// The test that is the program.
const PROGRAM: &str = "appender::it_appends_when_it_is_asked_to";

#[test]
fn it_appends_when_it_is_asked_to() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    roles::play(&role, &folder, &std::env::var(NAME).unwrap());
}

/// The database in a folder.
pub fn database(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// The commands of a ledger by their keys, each with its first and last event. Half a command is a fault.
pub fn commands(ledger: &Ledger) -> BTreeMap<String, (u64, u64)> {
    let mut found = BTreeMap::new();
    let mut next = 1;
    loop {
        let page = ledger.events(next, None, 1_000).unwrap();
        let Some(last) = page.last() else { return found };
        next = last.seq + 1;
        for row in &page {
            let event = Event::read(&row.body).unwrap();
            let (key, place) = row.id.rsplit_once('.').unwrap();
            match (&event.once, place) {
                (Some(once), "0") => {
                    assert_eq!(once.key, key);
                    let whole = (row.seq, row.seq + once.events - 1);
                    assert_eq!(found.insert(key.to_owned(), whole), None, "{key} is there twice");
                }
                (None, place) => {
                    let (first, last) = *found.get(key).expect("the first event of a command comes first");
                    assert_eq!(first + place.parse::<u64>().unwrap(), row.seq, "{key} is torn");
                    assert!(row.seq <= last);
                }
                other => panic!("event {} does not fit: {other:?}", row.seq),
            }
        }
        let head = ledger.head().unwrap().seq;
        assert!(found.values().all(|(_, last)| *last <= head), "a command is there by half");
    }
}

/// What is found when everything is verified.
pub fn findings(ledger: &Ledger) -> Vec<Finding> {
    let mut store = ledger.store().unwrap();
    let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
    verified.findings
}

/// That nothing is found, but erasures that were not finished; and after these were, nothing at all.
pub fn is_whole(ledger: &Ledger) {
    let left = |finding: &Finding| finding.seq.is_none() && finding.what.contains("an erasure was not finished");
    let found = findings(ledger);
    assert!(found.iter().all(left), "{found:#?}");
    if !found.is_empty() {
        ledger.store().unwrap().scrub().unwrap();
        assert_eq!(findings(ledger), []);
    }
}
