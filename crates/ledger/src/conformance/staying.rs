//! What a store promises whoever stays in the writer's place, if it can do that.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test suite")]

use super::store::event;
use super::{Counters, Fresh, add, once, open, value_of};
use crate::error::Error;
use crate::ledger::Ledger;
use crate::rows::Key;
use crate::store::{Batch, Store};
use crate::verify::{Verifying, verify};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn run(fresh: &dyn Fn() -> Fresh) {
    a_crowd_and_a_stranger_write_what_follows_from_each_other(fresh);
    if !fresh().store.stays() {
        assert!(begun(fresh).stay().is_none(), "a store that cannot do it says so");
        return;
    }
    nobody_comes_between_two_commits(fresh);
    who_waits_is_not_passed_over(fresh);
    who_stays_and_ends_it_gives_the_place_back(fresh);
}

fn begun(fresh: &dyn Fn() -> Fresh) -> Box<dyn Store> {
    let mut store = fresh().store;
    store.begin().unwrap();
    store
}

fn append(store: &mut dyn Store, seq: u64) {
    store.apply(&Batch { events: vec![event(seq, None)], ..Batch::default() }).unwrap();
}

/// With so many, some are decided while others are written, and the stranger gets its turn all the same.
fn a_crowd_and_a_stranger_write_what_follows_from_each_other(fresh: &dyn Fn() -> Fresh) {
    const CROWD: i64 = 40;
    const EACH: i64 = 8;
    let fresh = fresh();
    let handle = fresh.store.another().unwrap();
    let ledger = open(fresh);
    let stranger = Ledger::open(handle, Arc::new(Counters)).unwrap();
    let all = || Key::new("counter", "all");
    let count = |ledger: &Ledger, writer: i64| {
        for n in 0..EACH {
            let command = once("ana", &format!("{writer}-{n}"), "request");
            let work = move |transaction: &mut crate::Transaction<'_>| {
                let seen = transaction.get(&[all()])?.pop().flatten().as_ref().map_or(0, value_of);
                transaction.append(&command, vec![add("all", 1), add(&format!("saw-{seen}"), 1)])
            };
            ledger.write(work).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..CROWD {
            let (ledger, count) = (&ledger, &count);
            scope.spawn(move || count(ledger, writer));
        }
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

fn nobody_comes_between_two_commits(fresh: &dyn Fn() -> Fresh) {
    let mut store = begun(fresh);
    let mut other = store.another().unwrap();
    append(&mut *store, 1);
    assert!(store.stay().is_some());
    store.commit().unwrap();
    assert_eq!(other.head().unwrap().seq, 1, "what was committed is seen");
    let kept_out = other.begin_within(Duration::from_millis(20));
    assert!(matches!(kept_out, Err(Error::Busy { .. })), "{kept_out:?}");
    append(&mut *store, 2);
    store.commit().unwrap();
    assert_eq!(other.begin().unwrap().head.seq, 2);
    other.rollback();
}

fn who_waits_is_not_passed_over(fresh: &dyn Fn() -> Fresh) {
    let mut store = begun(fresh);
    append(&mut *store, 1);
    let mut other = store.another().unwrap();
    let waiting = std::thread::spawn(move || {
        let seq = other.begin().unwrap().head.seq;
        append(&mut *other, seq + 1);
        other.commit().unwrap();
        seq
    });
    while store.stay().is_some() {
        std::thread::yield_now();
    }
    store.commit().unwrap();
    assert_eq!(waiting.join().unwrap(), 1);
    assert_eq!(store.begin().unwrap().head.seq, 2);
    store.rollback();
}

fn who_stays_and_ends_it_gives_the_place_back(fresh: &dyn Fn() -> Fresh) {
    let mut store = begun(fresh);
    let mut other = store.another().unwrap();
    append(&mut *store, 1);
    assert!(store.stay().is_some());
    store.commit().unwrap();
    store.rollback();
    assert_eq!(other.begin().unwrap().head.seq, 1);
    other.rollback();
    // What was meant to stay, and failed, does not.
    store.begin().unwrap();
    assert!(store.stay().is_some());
    assert!(store.apply(&Batch { events: vec![event(1, None)], ..Batch::default() }).is_err());
    other.begin().unwrap();
    other.rollback();
}
