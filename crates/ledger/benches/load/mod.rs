//! What is appended where a ledger's own rate is measured: one event of about 1 KB for each command, to counters in turn.

use countersign_ledger::conformance::{add, once};
use countersign_ledger::{Draft, Key, Ledger, Recorded, Result, RowKey, Transaction};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Instant;

/// How many counters there are: entities that are changed again and again.
pub const COUNTERS: u64 = 1000;

/// An event of about 1 KB.
pub fn draft(number: u64) -> Draft {
    let counter = number % COUNTERS;
    let padding = "x".repeat(560);
    let facts = format!(r#"{{"add":1,"counter":"c{counter}","note":"{padding}"}}"#);
    Draft { facts, ..add(&format!("c{counter}"), 1) }
}

/// Appends it, in a command of its own that is known by its key.
pub fn append(ledger: &Ledger, number: u64) {
    let (looks_at, work) = command(number);
    ledger.write_looking_at(looks_at, work).unwrap();
}

/// How many appends a second some clients do together, which wait as those of a server do: for none of them there is a thread.
/// What they ask for was made before the clock starts: what is measured is the ledger, and not who asks.
pub fn concurrently(ledger: &Ledger, clients: u64, from: u64, events: u64) -> f64 {
    let commands = RefCell::new((from..from + events).map(command).collect::<VecDeque<_>>());
    let client = || async {
        loop {
            let Some((looks_at, work)) = commands.borrow_mut().pop_front() else { return };
            ledger.write_later(looks_at, work).unwrap().await.unwrap();
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let started = Instant::now();
    runtime.block_on(futures_util::future::join_all((0..clients).map(|_| client())));
    events as f64 / started.elapsed().as_secs_f64()
}

/// What it will look at, and what it does.
fn command(number: u64) -> (Vec<RowKey>, impl FnOnce(&mut Transaction<'_>) -> Result<Recorded> + Send + 'static) {
    let command = once("ana", &format!("key-{number}"), "request");
    let key = RowKey::Remembered([&command.actor, &command.name, &format!("key-{number}")].map(Into::into));
    let counter = RowKey::Entity(Key::new("counter", format!("c{}", number % COUNTERS)));
    let drafts = vec![draft(number)];
    (vec![key, counter], move |transaction: &mut Transaction<'_>| transaction.append(&command, drafts))
}
