//! What threads are answered at the same time could have been answered one after the other.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod dice;
mod history;

use countersign_ledger::conformance::{Counters, add, command, value_of};
use countersign_ledger::{
    Clock, Error, Held, Key, LeaseChange, Ledger, Memory, Refused, Sqlite, Store, Time, Transaction,
};
use dice::{Dice, Rounds};
use history::{Call, Sequential, is_linearizable};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};

const THREADS: u64 = 6;
const EACH: u64 = 16;

/// What was asked, and what was answered.
#[derive(Debug, Clone)]
enum Operation {
    /// Adds to the counter; the value before.
    Add(i64, i64),
    /// Reads the counter beside the writer.
    Read(i64),
    /// Claims the lease: granted under this number, or held under that one.
    Claim(Result<u64, u64>),
    /// Gives the lease back: whether that was one's to give.
    Release(u64, bool),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Plain {
    counter: i64,
    holder: Option<u64>,
    last: u64,
}

impl Sequential for Plain {
    type Operation = Operation;

    fn after(&self, what: &Operation) -> Option<Self> {
        let mut next = self.clone();
        let right = match what {
            Operation::Add(add, before) => {
                next.counter += add;
                *before == self.counter
            }
            Operation::Read(value) => *value == self.counter,
            Operation::Claim(Ok(number)) => {
                next.holder = Some(*number);
                next.last = *number;
                self.holder.is_none() && *number > self.last
            }
            Operation::Claim(Err(number)) => self.holder == Some(*number),
            Operation::Release(number, given) => {
                let own = self.holder == Some(*number);
                if own {
                    next.holder = None;
                }
                own == *given
            }
        };
        right.then_some(next)
    }
}

fn counter(found: &[Option<countersign_ledger::Entity>]) -> i64 {
    found[0].as_ref().map_or(0, value_of)
}

fn add_one(ledger: &Ledger, amount: i64) -> Operation {
    let before = ledger.write(move |transaction: &mut Transaction<'_>| {
        let before = counter(&transaction.get(&[Key::new("counter", "shared")])?);
        transaction.append(&command("ana"), vec![add("shared", amount)])?;
        Ok(before)
    });
    Operation::Add(amount, before.unwrap())
}

fn claim(ledger: &Ledger, holder: &str) -> Operation {
    let mut draft = add("claims", 1);
    draft.lease = Some(LeaseChange::Grant { holder: holder.to_owned(), name: "task".to_owned(), ttl: 3_600_000 });
    let answer = ledger.write(|transaction| transaction.append(&command("ana"), vec![draft]));
    match answer {
        Ok(recorded) => Operation::Claim(Ok(recorded.first)),
        Err(Error::Refused(Refused::LeaseHeld { number, .. })) => Operation::Claim(Err(number)),
        Err(other) => panic!("{other}"),
    }
}

fn release(ledger: &Ledger, number: u64) -> Operation {
    let mut draft = add("releases", 1);
    draft.lease = Some(LeaseChange::Release(Held { name: "task".to_owned(), number }));
    let answer = ledger.write(|transaction| transaction.append(&command("ana"), vec![draft]));
    match answer {
        Ok(_) => Operation::Release(number, true),
        Err(Error::Refused(Refused::LeaseLost { .. })) => Operation::Release(number, false),
        Err(other) => panic!("{other}"),
    }
}

/// Threads on two ledgers over the same rows, as two processes would have them.
fn history(ledgers: &[Ledger], dice: &mut Dice) -> Vec<Call<Operation>> {
    let now = AtomicU64::new(0);
    let gate = Barrier::new(THREADS as usize);
    let threads: Vec<_> = (0..THREADS).map(|thread| (thread, Dice::of(dice.next()))).collect();
    let run = |(thread, mut dice): (u64, Dice)| {
        let ledger = &ledgers[thread as usize % ledgers.len()];
        let mut calls = Vec::new();
        let mut known = 1;
        gate.wait();
        for _ in 0..EACH {
            let called = now.fetch_add(1, Ordering::SeqCst);
            let what = match dice.below(6) {
                0 | 1 => add_one(ledger, 1 + dice.below(3).cast_signed()),
                2 => Operation::Read(counter(&ledger.get(&[Key::new("counter", "shared")]).unwrap())),
                3 | 4 => claim(ledger, &format!("thread-{thread}")),
                _ => release(ledger, known),
            };
            let answered = now.fetch_add(1, Ordering::SeqCst);
            if let Operation::Claim(Ok(number) | Err(number)) = &what {
                known = *number;
            }
            calls.push(Call { called, answered, what });
        }
        calls
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = threads.into_iter().map(|thread| scope.spawn(|| run(thread))).collect();
        running.into_iter().flat_map(|it| it.join().unwrap()).collect()
    })
}

fn check(rounds: &mut Rounds, mut fresh: impl FnMut() -> Box<dyn Store>) {
    let mut dice = Dice::thrown();
    for _ in rounds.by_ref() {
        let store = fresh();
        let another = store.another().unwrap();
        let first = Ledger::create(store, Arc::new(Counters), "test-project").unwrap();
        let second = Ledger::open(another, Arc::new(Counters)).unwrap();
        let calls = history(&[first, second], &mut dice);
        assert!(is_linearizable(Plain::default(), &calls), "{calls:#?}");
    }
    dice::count("histories of 96 calls found linearizable", rounds.done());
}

#[test]
fn what_memory_answers_at_once_it_could_have_answered_in_turn() {
    check(&mut Rounds::of(30), || Box::new(Memory::new(Clock::System)));
}

#[test]
fn what_sqlite_answers_at_once_it_could_have_answered_in_turn() {
    let mut folder = tempfile::tempdir().unwrap();
    check(&mut Rounds::of(12), || {
        folder = tempfile::tempdir().unwrap();
        let (clock, _) = Clock::manual(Time(1_800_000_000_000));
        Box::new(Sqlite::create(&folder.path().join("ledger.db"), clock).unwrap())
    });
}

#[cfg(unix)]
#[test]
fn what_postgres_answers_at_once_it_could_have_answered_in_turn() {
    let server = countersign_ledger::conformance::postgres_server::shared();
    let mut number = 0;
    check(&mut Rounds::of(6), || {
        number += 1;
        Box::new(countersign_ledger::Postgres::create(&server.url(), &format!("history-{number}")).unwrap())
    });
}

#[test]
fn an_order_that_cannot_have_been_is_found() {
    let call = |called, answered, what| Call { called, answered, what };
    // Two that overlap may have been in either order; a read that comes later must see both.
    let both = [call(0, 3, Operation::Add(1, 1)), call(1, 2, Operation::Add(1, 0))];
    let seen = |value| [both.to_vec(), vec![call(4, 5, Operation::Read(value))]].concat();
    assert!(is_linearizable(Plain::default(), &seen(2)));
    assert!(!is_linearizable(Plain::default(), &seen(1)));
    // Two that win the same claim.
    let won = [call(0, 3, Operation::Claim(Ok(1))), call(1, 2, Operation::Claim(Ok(2)))];
    assert!(!is_linearizable(Plain::default(), &won));
    // An update that got lost.
    let lost = [call(0, 3, Operation::Add(1, 0)), call(1, 2, Operation::Add(1, 0))];
    assert!(!is_linearizable(Plain::default(), &lost));
}
