//! The clock jumps and goes back: leases heal, and the order is that of the sequence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use countersign_ledger::conformance::{Counters, Fresh, add, command, open};
use countersign_ledger::{
    Clock, Error, Event, Held, LeaseChange, Ledger, Memory, Refused, Result, Sqlite, Time, Verifying, verify,
};
use std::sync::atomic::{AtomicI64, Ordering};

const START: Time = Time(1_800_000_000_000);
const TTL: i64 = 1_000;
const HOUR: i64 = 3_600_000;

fn on_each_store(test: impl Fn(&Ledger, &AtomicI64)) {
    let (clock, hand) = Clock::manual(START);
    test(&open(Fresh { store: Box::new(Memory::new(clock)), hand: None }), &hand);
    let folder = tempfile::tempdir().unwrap();
    let (clock, hand) = Clock::manual(START);
    let store = Sqlite::create(&folder.path().join("ledger.db"), clock).unwrap();
    test(&open(Fresh { store: Box::new(store), hand: None }), &hand);
}

fn grant(ledger: &Ledger, holder: &str) -> Result<u64> {
    let mut draft = add("grants", 1);
    draft.lease = Some(LeaseChange::Grant { holder: holder.to_owned(), name: "door".to_owned(), ttl: TTL });
    ledger.write(|transaction| Ok(transaction.append(&command("ana"), vec![draft])?.first))
}

#[test]
fn a_lease_from_the_future_lapses_though_all_who_ask_are_refused() {
    on_each_store(|ledger, hand| {
        hand.fetch_add(HOUR, Ordering::SeqCst);
        let first = grant(ledger, "gone").unwrap();
        hand.fetch_sub(HOUR, Ordering::SeqCst);
        // Its holder is never heard of again. Whoever asks sees the same deadline, which comes.
        let refused = grant(ledger, "bob");
        let until = START.plus(TTL);
        let held = Refused::LeaseHeld { name: "door".to_owned(), holder: "gone".to_owned(), number: first, until };
        assert_eq!(refused, Err(Error::Refused(held.clone())));
        hand.fetch_add(TTL - 1, Ordering::SeqCst);
        assert_eq!(grant(ledger, "bob"), Err(Error::Refused(held)));
        hand.fetch_add(1, Ordering::SeqCst);
        assert!(grant(ledger, "bob").unwrap() > first);
    });
}

#[test]
fn a_lease_from_the_future_that_nobody_asks_for_is_healed_once_and_lapses() {
    on_each_store(|ledger, hand| {
        hand.fetch_add(HOUR, Ordering::SeqCst);
        let number = grant(ledger, "gone").unwrap();
        assert_eq!(ledger.heal().unwrap(), 0, "by this clock it is no lease from the future");
        hand.fetch_sub(HOUR, Ordering::SeqCst);
        assert_eq!(ledger.next_due().unwrap(), Some(START.plus(HOUR + TTL).0));
        assert_eq!(ledger.heal().unwrap(), 1);
        assert_eq!(ledger.next_due().unwrap(), Some(START.plus(TTL).0));
        hand.fetch_add(TTL / 2, Ordering::SeqCst);
        assert_eq!(ledger.heal().unwrap(), 0, "it does not begin anew whenever it is looked for");
        hand.fetch_add(TTL / 2, Ordering::SeqCst);
        let lapsed = ledger.write(|transaction| transaction.lapsed(10)).unwrap();
        assert_eq!(lapsed, vec![Held { name: "door".to_owned(), number }]);
    });
}

#[test]
fn a_lease_keeps_its_own_length_when_the_clock_goes_back_and_forth() {
    on_each_store(|ledger, hand| {
        let number = grant(ledger, "ana").unwrap();
        let held = Held { name: "door".to_owned(), number };
        let renew = || {
            let held = held.clone();
            ledger.write(move |transaction| transaction.renew(&held))
        };
        hand.fetch_sub(HOUR, Ordering::SeqCst);
        assert_eq!(renew().unwrap(), START.plus(TTL - HOUR));
        hand.fetch_add(HOUR, Ordering::SeqCst);
        // Ahead again it has lapsed, and a stale number gives no right.
        assert!(matches!(renew(), Err(Error::Refused(Refused::LeaseLost { .. }))));
        let lapsed = ledger.write(|transaction| transaction.lapsed(10)).unwrap();
        assert_eq!(lapsed, vec![held.clone()]);
        assert!(grant(ledger, "bob").unwrap() > number);
        hand.fetch_sub(HOUR, Ordering::SeqCst);
        assert!(matches!(renew(), Err(Error::Refused(Refused::LeaseLost { .. }))));
    });
}

#[test]
fn the_order_is_the_sequence_whatever_the_clock_says() {
    on_each_store(|ledger, hand| {
        // As far as the years 125 and 9632.
        for jump in [0, 5, -HOUR, HOUR, -7 * HOUR, 1, -60_000_000_000_000, 300_000_000_000_000] {
            hand.fetch_add(jump, Ordering::SeqCst);
            ledger.write(|transaction| transaction.append(&command("ana"), vec![add("a", 1)])).unwrap();
        }
        let rows = ledger.events(1, None, 100).unwrap();
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        let times: Vec<_> = rows.iter().map(|row| Event::read(&row.body).unwrap().time).collect();
        assert!(times[2] < times[0]);
        let mut store = ledger.store().unwrap();
        let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
        assert_eq!(verified.findings, []);
    });
}

#[test]
fn while_the_clock_shows_a_time_that_cannot_be_written_nothing_is() {
    on_each_store(|ledger, hand| {
        let first = grant(ledger, "ana").unwrap();
        for shown in [i64::MIN, -62_167_219_200_001, 253_402_300_800_000, i64::MAX] {
            hand.store(shown, Ordering::SeqCst);
            let said = grant(ledger, "bob").unwrap_err();
            assert!(matches!(&said, Error::NotWritten(why) if why.contains("the clock shows a time")), "{said:?}");
        }
        // It can be read all the while, and written to once the clock is set.
        assert_eq!(ledger.head().unwrap().seq, first);
        hand.store(START.plus(HOUR).0, Ordering::SeqCst);
        assert_eq!(grant(ledger, "bob").unwrap(), first + 1);
    });
}
