//! Many who share commits, and somebody else who writes to the same ledger.
#![allow(clippy::unwrap_used, reason = "a test suite")]

use super::{Counters, Fresh, add, once, open, value_of, waited};
use crate::ledger::Ledger;
use crate::rows::Key;
use crate::verify::{Verifying, verify};
use std::ops::Range;
use std::sync::Arc;

pub(super) fn run(fresh: &dyn Fn() -> Fresh) {
    a_crowd_and_a_stranger_write_what_follows_from_each_other(fresh);
}

/// What each sees is what all before it have done, and the stranger gets its turn. Half of the crowd waits with a thread each, and
/// half without.
fn a_crowd_and_a_stranger_write_what_follows_from_each_other(fresh: &dyn Fn() -> Fresh) {
    const CROWD: i64 = 40;
    const EACH: i64 = 8;
    let fresh = fresh();
    let handle = fresh.store.another().unwrap();
    let ledger = open(fresh);
    let stranger = Ledger::open(handle, Arc::new(Counters)).unwrap();
    let all = || Key::new("counter", "all");
    let work = |writer: i64, n: i64| {
        let command = once("ana", &format!("{writer}-{n}"), "request");
        move |transaction: &mut crate::Transaction<'_>| {
            let seen = transaction.get(&[all()])?.pop().flatten().as_ref().map_or(0, value_of);
            transaction.append(&command, vec![add("all", 1), add(&format!("saw-{seen}"), 1)])
        }
    };
    let count = |ledger: &Ledger, writer: i64| {
        for n in 0..EACH {
            ledger.write(work(writer, n)).unwrap();
        }
    };
    let count_later = |ledger: &Ledger, writers: Range<i64>| {
        for n in 0..EACH {
            let begin = |writer| ledger.write_later(Vec::new(), work(writer, n)).unwrap();
            let begun: Vec<_> = writers.clone().map(begin).collect();
            for pending in begun {
                waited(pending).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..CROWD / 2 {
            let (ledger, count) = (&ledger, &count);
            scope.spawn(move || count(ledger, writer));
        }
        scope.spawn(|| count_later(&ledger, CROWD / 2..CROWD));
        count(&stranger, CROWD);
    });
    let total = (CROWD + 1) * EACH;
    let seen = ledger.get(&[all()]).unwrap().remove(0).unwrap();
    assert_eq!(value_of(&seen), total);
    let names: Vec<_> = (0..total).map(|seen| Key::new("counter", format!("saw-{seen}"))).collect();
    let each = ledger.get(&names).unwrap();
    assert!(each.iter().flatten().all(|it| value_of(it) == 1), "no two saw the same");
    assert_eq!(each.iter().flatten().count() as i64, total);
    let verified = verify(&mut *ledger.store().unwrap(), &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}
