//! What is appended where a ledger's own rate is measured: one event of about 1 KB for each command, to counters in turn.

use countersign_ledger::conformance::{add, once};
use countersign_ledger::{Draft, Key, Ledger, RowKey, Transaction};

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
    let command = once("ana", &format!("key-{number}"), "request");
    let key = RowKey::Remembered([command.actor.clone(), command.name.clone(), format!("key-{number}")]);
    let counter = RowKey::Entity(Key::new("counter", format!("c{}", number % COUNTERS)));
    let drafts = vec![draft(number)];
    let work = move |transaction: &mut Transaction<'_>| transaction.append(&command, drafts);
    ledger.write_looking_at(vec![key, counter], work).unwrap();
}
