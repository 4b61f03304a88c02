//! Every store keeps the same promises.
#![allow(clippy::unwrap_used, reason = "tests")]

use countersign_ledger::conformance::{self, Fresh, postgres_server};
use countersign_ledger::{Clock, Memory, Postgres, Sqlite, Time};
use std::cell::RefCell;

const START: Time = Time(1_800_000_000_000);

#[test]
fn memory_keeps_its_promises() {
    conformance::run(&|| {
        let (clock, hand) = Clock::manual(START);
        Fresh { store: Box::new(Memory::new(clock)), hand: Some(hand) }
    });
}

#[test]
fn sqlite_keeps_its_promises() {
    let folders = RefCell::new(Vec::new());
    conformance::run(&|| {
        let (clock, hand) = Clock::manual(START);
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::create(&folder.path().join("ledger.db"), clock).unwrap();
        folders.borrow_mut().push(folder);
        Fresh { store: Box::new(store), hand: Some(hand) }
    });
}

#[test]
fn postgres_keeps_its_promises() {
    let server = postgres_server::shared();
    let projects = RefCell::new(0);
    conformance::run(&|| {
        *projects.borrow_mut() += 1;
        let project = format!("project-{}", projects.borrow());
        Fresh { store: Box::new(Postgres::create(&server.url(), &project).unwrap()), hand: None }
    });
}
