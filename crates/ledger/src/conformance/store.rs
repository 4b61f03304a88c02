//! What a store promises of rows.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test suite")]

use super::Fresh;
use crate::error::Error;
use crate::hash::Hash;
use crate::rows::{Entity, EventRow, Key, Lease, Liveness, Place, Remembered, Row, RowKey, RowValue, Table, TextRow};
use crate::store::{Batch, Head, Store};
use crate::time::Time;
use std::time::Duration;

pub(super) fn run(fresh: &dyn Fn() -> Fresh) {
    rows_come_back_as_they_were_put(fresh);
    rows_stand_in_the_order_of_their_keys(fresh);
    a_transaction_that_is_not_committed_leaves_nothing(fresh);
    an_event_is_never_there_twice(fresh);
    a_transaction_sees_its_own_changes_and_others_do_not(fresh);
    texts_come_back_and_go(fresh);
    writers_take_turns(fresh);
    who_stays_keeps_the_place_or_finds_out(fresh);
    who_has_little_patience_is_told_who_writes(fresh);
    nothing_lies_beyond_all_numbers(fresh);
    a_page_ends_where_its_texts_are_long(fresh);
    who_waits_is_woken(fresh);
}

fn a_page_ends_where_its_texts_are_long(fresh: &dyn Fn() -> Fresh) {
    const LENGTHS: [usize; 8] = [10, 3 << 20, 3 << 20, 3 << 20, 20 << 20, 10, 40_000, 10];
    let mut store = fresh().store;
    for (seq, length) in (1..).zip(LENGTHS) {
        let texts = [length - 5, 5].map(|length| Some(crate::conformance::text(&vec![b'x'; length])));
        let texts = (0..).zip(texts).map(|(n, text)| TextRow { seq, n, text }).collect();
        commit(&mut *store, &Batch { events: vec![event(seq, None)], texts, ..Batch::default() });
    }
    let sizes = (1..).zip(LENGTHS).map(|(seq, length)| (length + event(seq, None).body.len()) as u64);
    assert_eq!(store.sizes(1, 100).unwrap(), sizes.collect::<Vec<_>>());
    assert_eq!(store.sizes(8, 1).unwrap().len(), 1);
    let mut pages = Vec::new();
    let mut next = 1;
    while next <= LENGTHS.len() as u64 {
        pages.push(crate::pages::size(&mut *store, next, LENGTHS.len() as u64).unwrap());
        next += pages.last().copied().unwrap() as u64;
    }
    assert_eq!(pages, [3, 1, 1, 3]);
}

fn nothing_lies_beyond_all_numbers(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    commit(&mut *store, &Batch { events: vec![event(1, Some("run"))], ..Batch::default() });
    for beyond in [i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        assert_eq!(store.events(beyond, None, 10).unwrap(), vec![]);
        assert_eq!(store.events(beyond, Some("run"), 10).unwrap(), vec![]);
        assert_eq!(store.texts(beyond, u64::MAX).unwrap(), vec![]);
        assert_eq!(store.get(&[RowKey::Tile(0, beyond)]).unwrap(), vec![None]);
    }
}

fn who_has_little_patience_is_told_who_writes(fresh: &dyn Fn() -> Fresh) {
    let mut writer = fresh().store;
    let mut other = writer.another().unwrap();
    writer.begin().unwrap();
    for _ in 0..2 {
        let busy = other.begin_within(Duration::from_millis(200)).unwrap_err();
        assert!(matches!(busy, Error::Busy { holder: Some(_), .. }), "{busy:?}");
    }
    // Who gave up stands in nobody's way, and what was had in time is had like any other.
    writer.rollback();
    for (store, seq) in [(&mut writer, 1), (&mut other, 2)] {
        store.begin_within(Duration::from_secs(30)).unwrap();
        store.apply(&Batch { events: vec![event(seq, None)], ..Batch::default() }).unwrap();
        store.commit().unwrap();
    }
    writer.begin().unwrap();
    let waited = std::thread::spawn(move || other.begin_within(Duration::from_secs(30)).map(|begun| begun.head.seq));
    std::thread::sleep(Duration::from_millis(50));
    writer.rollback();
    assert_eq!(waited.join().unwrap(), Ok(2));
}

pub(super) fn event(seq: u64, run: Option<&str>) -> EventRow {
    let body = format!("body {seq} \"ü\u{1}\"");
    EventRow { seq, id: format!("id-{seq}"), run: run.map(str::to_owned), hash: Hash::of(body.as_bytes()), body }
}

fn commit(store: &mut dyn Store, batch: &Batch) {
    store.begin().unwrap();
    store.apply(batch).unwrap();
    store.commit().unwrap();
    store.settle();
}

/// A row of every table, told apart by a name.
fn rows(name: &str) -> Vec<Row> {
    let key = Key::new("kind", name);
    let entity = Entity {
        key: key.clone(),
        seq: 7,
        version: 3,
        birth: 2,
        shape: 1,
        matter: "m".into(),
        class: "c".into(),
        facts: format!(r#"{{"name":"{name} ü"}}"#).into(),
    };
    let remembered = Remembered { request: Hash::of(b"r"), code: "OK".to_owned(), first: 1, last: 9 };
    let lease = Lease { number: 5, holder: "ana".to_owned(), granted: Time(-1), ttl: 1000, ended: None };
    let ended = Lease { ended: Some(8), ..lease.clone() };
    let place = Place { index: "i".into(), at: vec![0, 255, 1] };
    vec![
        (RowKey::Entity(key.clone()), RowValue::Entity(entity)),
        (RowKey::Index(place, key.clone()), RowValue::Nothing),
        (RowKey::Touch(1 << 40, key), RowValue::Touch(1 << 39)),
        (RowKey::Remembered(["a", name, "k"].map(Into::into)), RowValue::Remembered(remembered)),
        (RowKey::Lease(name.into()), RowValue::Lease(lease)),
        (RowKey::Lease(format!("{name} ended").into()), RowValue::Lease(ended)),
        (RowKey::Tile(1, name.len() as u64), RowValue::Tile(vec![0; 64])),
        (RowKey::Liveness(name.into()), RowValue::Liveness(Liveness { number: 5, beat: Time(1), deadline: Time(2) })),
        (RowKey::Due(Time(-5), name.into()), RowValue::Nothing),
        (RowKey::Meta(name.into()), RowValue::Meta("value".to_owned())),
    ]
}

fn rows_come_back_as_they_were_put(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    assert_eq!(store.head().unwrap(), Head::EMPTY);
    let put = rows("one");
    commit(&mut *store, &Batch { events: vec![event(1, None)], put: put.clone(), ..Batch::default() });
    let keys: Vec<_> = put.iter().map(|(key, _)| key.clone()).collect();
    let mut another = store.another().unwrap();
    for store in [&mut store, &mut another] {
        let got = store.get(&keys).unwrap();
        assert_eq!(got, put.iter().map(|(_, value)| Some(value.clone())).collect::<Vec<_>>());
        assert_eq!(store.events(1, None, 10).unwrap(), vec![event(1, None)]);
        assert_eq!(store.head().unwrap(), Head { seq: 1, hash: event(1, None).hash });
        assert_eq!(store.find("id-1").unwrap(), Some(1));
        assert_eq!(store.find("id-2").unwrap(), None);
    }
    // Put again is replaced; deleted is gone; and so is what a cleared table had.
    let (key, _) = put[0].clone();
    let mut changed = put[0].1.clone();
    if let RowValue::Entity(entity) = &mut changed {
        entity.facts = "{}".into();
    }
    let delete = vec![keys[4].clone()];
    commit(&mut *store, &Batch { put: vec![(key.clone(), changed.clone())], delete, ..Batch::default() });
    assert_eq!(another.get(&[key, keys[4].clone()]).unwrap(), vec![Some(changed), None]);
    store.begin().unwrap();
    store.clear(Table::Entity).unwrap();
    store.commit().unwrap();
    assert_eq!(another.range(&Table::Entity.first(), None, 10).unwrap(), vec![]);
    assert_eq!(another.range(&Table::Touch.first(), None, 10).unwrap().len(), 1);
}

fn rows_stand_in_the_order_of_their_keys(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let mut put = Vec::new();
    for name in ["b", "a", "a/b", "é", "Z", "a b", "😀", "", "\u{7f}"] {
        put.extend(rows(name));
    }
    let place = |at: &[u8], id: &str| {
        (RowKey::Index(Place { index: "order".into(), at: at.to_vec() }, Key::new("k", id)), RowValue::Nothing)
    };
    put.extend([
        place(&[], "z"),
        place(&[0], "b"),
        place(&[0], "a"),
        place(&[0, 0], "a"),
        place(&[255], "a"),
        place(&[127], "a"),
    ]);
    for seq in [10, 9, 100, 2] {
        put.push((RowKey::Touch(seq, Key::new("k", "x")), RowValue::Touch(seq - 1)));
    }
    put.sort_by(|(left, _), (right, _)| left.cmp(right));
    put.dedup_by(|(left, _), (right, _)| left == right);
    commit(&mut *store, &Batch { put: put.clone(), ..Batch::default() });
    let tables = [Table::Liveness, Table::Due, Table::Meta].into_iter().chain(Table::DERIVED);
    for table in tables {
        let expected: Vec<_> = put.iter().filter(|(key, _)| key.table() == table).cloned().collect();
        assert_eq!(store.range(&table.first(), None, 1000).unwrap(), expected, "{table:?}");
        for from in 0..expected.len() {
            for to in from..expected.len() {
                let found = store.range(&expected[from].0, Some(&expected[to].0), 3).unwrap();
                let wanted: Vec<_> = expected[from..to].iter().take(3).cloned().collect();
                assert_eq!(found, wanted, "{table:?} {from}..{to}");
            }
        }
    }
    let events = (1..=20).map(|seq| event(seq, ["r1", "r2"].get(seq as usize % 3).copied())).collect::<Vec<_>>();
    commit(&mut *store, &Batch { events: events.clone(), ..Batch::default() });
    assert_eq!(store.events(5, None, 4).unwrap(), events[4..8]);
    let of_run: Vec<_> =
        events.iter().filter(|it| it.seq > 3 && it.run.as_deref() == Some("r2")).take(2).cloned().collect();
    assert_eq!(store.events(4, Some("r2"), 2).unwrap(), of_run);
}

fn a_transaction_that_is_not_committed_leaves_nothing(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let batch = Batch { events: vec![event(1, None)], put: rows("one"), ..Batch::default() };
    store.begin().unwrap();
    store.apply(&batch).unwrap();
    store.rollback();
    assert_eq!(store.head().unwrap(), Head::EMPTY);
    assert_eq!(store.range(&Table::Entity.first(), None, 10).unwrap(), vec![]);
    // The same through a handle that is dropped while it writes.
    let mut another = store.another().unwrap();
    another.begin().unwrap();
    another.apply(&batch).unwrap();
    drop(another);
    assert_eq!(store.head().unwrap(), Head::EMPTY);
    commit(&mut *store, &batch);
    assert_eq!(store.head().unwrap().seq, 1);
}

fn an_event_is_never_there_twice(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    commit(&mut *store, &Batch { events: vec![event(1, None)], ..Batch::default() });
    let other_id = EventRow { id: "other".to_owned(), ..event(1, None) };
    let other_seq = EventRow { seq: 2, ..event(1, None) };
    let same_id = EventRow { id: event(2, None).id, ..event(3, None) };
    for twice in [vec![event(1, None)], vec![other_id], vec![other_seq], vec![event(2, None), same_id]] {
        store.begin().unwrap();
        let batch = Batch { events: twice, put: rows("x"), ..Batch::default() };
        assert!(matches!(store.apply(&batch), Err(Error::NotWritten(_))));
        assert_eq!(store.range(&Table::Entity.first(), None, 10).unwrap(), vec![]);
        store.begin().unwrap();
        assert!(matches!(store.apply_and_commit(&batch), Err(Error::NotWritten(_))));
        assert_eq!(store.range(&Table::Entity.first(), None, 10).unwrap(), vec![]);
    }
    commit(&mut *store, &Batch { events: vec![event(2, None)], ..Batch::default() });
    assert_eq!(store.events(1, None, 10).unwrap(), vec![event(1, None), event(2, None)]);
}

fn a_transaction_sees_its_own_changes_and_others_do_not(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let mut another = store.another().unwrap();
    let put = rows("one");
    store.begin().unwrap();
    store.apply(&Batch { events: vec![event(1, None)], put: put.clone(), ..Batch::default() }).unwrap();
    assert_eq!(store.get(&[put[0].0.clone()]).unwrap(), vec![Some(put[0].1.clone())]);
    assert_eq!(store.events(1, None, 5).unwrap().len(), 1);
    assert_eq!(another.get(&[put[0].0.clone()]).unwrap(), vec![None]);
    assert_eq!(another.events(1, None, 5).unwrap(), vec![]);
    store.commit().unwrap();
    assert_eq!(another.get(&[put[0].0.clone()]).unwrap(), vec![Some(put[0].1.clone())]);
}

fn texts_come_back_and_go(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let bodies: [Vec<u8>; 4] = [b"short".to_vec(), vec![], vec![0xff, 0, 7], vec![b'x'; 3 * 64 * 1024 + 1]];
    let texts: Vec<_> = (0..)
        .zip(&bodies)
        .map(|(n, body)| TextRow { seq: 1, n, text: Some(super::text(body)) })
        .chain([TextRow { seq: 2, n: 0, text: Some(super::text(b"second")) }])
        .collect();
    commit(
        &mut *store,
        &Batch { events: vec![event(1, None), event(2, None)], texts: texts.clone(), ..Batch::default() },
    );
    assert_eq!(store.another().unwrap().texts(1, 3).unwrap(), texts);
    assert_eq!(store.texts(2, 3).unwrap(), texts[4..]);
    commit(&mut *store, &Batch { erase: vec![(1, 0), (1, 3)], ..Batch::default() });
    store.scrub().unwrap();
    let mut expected = texts;
    expected[0].text = None;
    expected[3].text = None;
    assert_eq!(store.texts(1, 3).unwrap(), expected);
    assert_eq!(store.examine().unwrap(), Vec::<String>::new());
}

fn writers_take_turns(fresh: &dyn Fn() -> Fresh) {
    const WRITERS: u64 = 4;
    const EACH: u64 = 25;
    let mut store = fresh().store;
    let handles: Vec<_> = (0..WRITERS).map(|_| store.another().unwrap()).collect();
    std::thread::scope(|scope| {
        for mut handle in handles {
            scope.spawn(move || {
                for _ in 0..EACH {
                    // Read, then write what follows from it: two at once would write the same sequence number.
                    let next = handle.begin().unwrap().head.seq + 1;
                    handle.apply(&Batch { events: vec![event(next, None)], ..Batch::default() }).unwrap();
                    handle.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(store.head().unwrap().seq, WRITERS * EACH);
}

fn who_stays_keeps_the_place_or_finds_out(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let mut other = store.another().unwrap();
    store.begin().unwrap();
    store.apply(&Batch { events: vec![event(1, None)], ..Batch::default() }).unwrap();
    store.commit_and_stay().unwrap();
    // It is durable and seen, whether or not somebody else can come between now.
    assert_eq!(other.head().unwrap().seq, 1);
    let keeps = store.writes_beside();
    if keeps {
        assert!(!store.is_awaited());
        let waiting =
            std::thread::spawn(move || (other.begin_within(Duration::from_secs(30)).map(|it| it.head.seq), other));
        while !store.is_awaited() {
            std::thread::yield_now();
        }
        assert_eq!(store.begin_next().unwrap().head.seq, 1);
        store.apply(&Batch { events: vec![event(2, None)], ..Batch::default() }).unwrap();
        store.commit().unwrap();
        let (begun, mut other) = waiting.join().unwrap();
        assert_eq!(begun, Ok(2), "nobody came between");
        other.rollback();
        assert!(!store.is_awaited());
    }
    // Whoever has no place, or could not keep it, does not get it this way.
    let lost = store.begin_next().unwrap_err();
    assert!(matches!(lost, Error::NotWritten(_)), "{lost:?}");
    // Whoever stayed and wants nothing more gives the place up.
    let mut another = store.another().unwrap();
    store.begin().unwrap();
    store.commit_and_stay().unwrap();
    store.rollback();
    another.begin_within(Duration::from_secs(30)).unwrap();
    another.rollback();
}

fn who_waits_is_woken(fresh: &dyn Fn() -> Fresh) {
    let mut store = fresh().store;
    let mut waiter = store.another().unwrap();
    assert_eq!(waiter.wait(0, Duration::from_millis(1)).unwrap(), Head::EMPTY);
    let waiting = std::thread::spawn(move || waiter.wait(0, Duration::from_secs(60)).unwrap());
    commit(&mut *store, &Batch { events: vec![event(1, None)], ..Batch::default() });
    assert_eq!(waiting.join().unwrap().seq, 1);
}
