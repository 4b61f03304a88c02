//! What the ledger promises on any store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test suite")]

use super::{Counters, Fresh, add, command, once, open, text, value_of};
use crate::error::{Error, Refused};
use crate::event::{Draft, Event, Held, LeaseChange};
use crate::fold::Fold;
use crate::hash::Hash;
use crate::ledger::Ledger;
use crate::pages;
use crate::rebuild::rebuild;
use crate::rows::{Key, Table};
use crate::transaction::{Recorded, Scan};
use crate::tree;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

pub(super) fn run(fresh: &dyn Fn() -> Fresh) {
    of_several_who_begin_all_get_the_ledger_of_the_first(fresh);
    events_are_chained_and_entities_follow(fresh);
    a_refused_command_leaves_the_others_alone(fresh);
    an_id_that_is_there_already_refuses_one_command(fresh);
    what_would_be_found_by_too_long_a_name_is_refused(fresh);
    a_key_does_a_thing_once(fresh);
    many_writers_lose_and_double_nothing(fresh);
    a_lease_has_one_holder_and_a_number(fresh);
    a_lapsed_lease_gives_no_right(fresh);
    what_is_derived_is_made_again_byte_for_byte(fresh);
    proofs_hold_for_every_event_and_size(fresh);
    a_reopened_ledger_goes_on_where_it_was(fresh);
}

fn append(ledger: &Ledger, drafts: Vec<Draft>) -> Recorded {
    ledger.write(|transaction| transaction.append(&command("ana"), drafts)).unwrap()
}

fn of_several_who_begin_all_get_the_ledger_of_the_first(fresh: &dyn Fn() -> Fresh) {
    let store = fresh().store;
    let begin = |project: &str| Ledger::create(store.another().unwrap(), Arc::new(Counters), project).unwrap();
    let first = begin("first");
    assert_eq!([first.project(), begin("second").project()], ["first", "first"], "before there is an event");
    append(&first, vec![add("a", 1)]);
    assert_eq!(begin("third").project(), "first", "and after");
    append(&begin("first"), vec![add("a", 1)]);
}

fn events_are_chained_and_entities_follow(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    assert_eq!(append(&ledger, vec![add("a", 1), add("b", 5), add("a", 2)]), Recorded { first: 1, last: 3 });
    append(&ledger, vec![add("b", 0)]);
    let mut prev = Hash::NONE;
    for (seq, row) in (1..).zip(ledger.events(1, None, 10).unwrap()) {
        let event = Event::read(&row.body).unwrap();
        assert_eq!((event.seq, event.prev, event.project, event.actor), (seq, prev, "test-project", "ana"));
        assert_eq!(event.write(), row.body);
        assert_eq!(crate::canonical::fault(&row.body), None);
        prev = Hash::of(row.body.as_bytes());
        assert_eq!(row.hash, prev);
    }
    let key = |name: &str| Key::new("counter", name);
    let mut entities = ledger.get(&[key("a"), key("b"), key("c")]).unwrap();
    let a = entities.remove(0).unwrap();
    assert_eq!((value_of(&a), a.version, a.birth, a.seq), (3, 2, 1, 3));
    assert_eq!(entities, vec![None, None]);
    let hits = ledger.scan(&Scan { index: "by_value".to_owned(), from: vec![], to: None, limit: 10 }).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.key.id.as_str()).collect::<Vec<_>>(), vec!["a"]);
    assert_eq!(ledger.history(&key("a"), 10).unwrap(), vec![1, 3]);
    assert_eq!(ledger.history(&key("a"), 1).unwrap(), vec![3]);
    assert_eq!(ledger.history(&key("b"), 10).unwrap(), Vec::<u64>::new(), "it is gone");
}

fn a_refused_command_leaves_the_others_alone(fresh: &dyn Fn() -> Fresh) {
    let ledger = Arc::new(open(fresh()));
    // Held up so that all three wait together and share a commit.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let first = {
        let ledger = Arc::clone(&ledger);
        std::thread::spawn(move || {
            ledger.write(move |transaction| {
                wait.recv_timeout(Duration::from_secs(60)).ok();
                transaction.append(&command("ana"), vec![add("a", 1)])
            })
        })
    };
    let refused = {
        let ledger = Arc::clone(&ledger);
        std::thread::spawn(move || {
            ledger.write(|transaction| {
                transaction.append(&command("eve"), vec![add("a", 100), add("evil", 1)])?;
                Err::<(), _>(Error::Malformed("on second thoughts".to_owned()))
            })
        })
    };
    let broken = {
        let ledger = Arc::clone(&ledger);
        std::thread::spawn(move || {
            ledger.write(|transaction| -> crate::Result<()> {
                transaction.append(&command("eve"), vec![add("a", 100)])?;
                panic!("a fault in the command")
            })
        })
    };
    let second = {
        let ledger = Arc::clone(&ledger);
        std::thread::spawn(move || ledger.write(|transaction| transaction.append(&command("bob"), vec![add("a", 2)])))
    };
    go.send(()).unwrap();
    first.join().unwrap().unwrap();
    second.join().unwrap().unwrap();
    assert_eq!(refused.join().unwrap(), Err(Error::Malformed("on second thoughts".to_owned())));
    assert!(matches!(broken.join().unwrap(), Err(Error::Broke(why)) if why == "a fault in the command"));
    let found = ledger.get(&[Key::new("counter", "a"), Key::new("counter", "evil")]).unwrap();
    assert_eq!(found[0].as_ref().map(value_of), Some(3));
    assert_eq!((ledger.head().unwrap().seq, found[1].is_none()), (2, true));
}

fn an_id_that_is_there_already_refuses_one_command(fresh: &dyn Fn() -> Fresh) {
    let named = |id: &str| Draft { id: Some(id.to_owned()), ..add("a", 1) };
    let ledger = open(fresh());
    append(&ledger, vec![named("one"), add("a", 1)]);
    // Held up so that the others wait together and share a commit.
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let asks: [Vec<Draft>; 6] = [
        vec![add("a", 1), named("one")],
        vec![named("two")],
        vec![named("three"), named("three")],
        vec![named("two")],
        vec![named("three")],
        vec![add("a", 1)],
    ];
    let answers: Vec<_> = std::thread::scope(|scope| {
        let hold = move |_: &mut crate::Transaction<'_>| Ok(wait.recv_timeout(Duration::from_secs(60)).ok());
        let held = scope.spawn(|| ledger.write(hold));
        let asked = |drafts: &Vec<Draft>| {
            let (ledger, drafts) = (&ledger, drafts.clone());
            scope.spawn(move || ledger.write(|transaction| transaction.append(&command("ana"), drafts)))
        };
        let asked: Vec<_> = asks.iter().map(asked).collect();
        go.send(()).unwrap();
        held.join().unwrap().unwrap();
        asked.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let refused = |answer: &crate::Result<Recorded>, id: &str| matches!(answer, Err(Error::Malformed(why)) if why.contains(&format!("`{id}`")));
    assert!(refused(&answers[0], "one") && refused(&answers[2], "three"), "{answers:?}");
    // Of two that chose the same, whichever came first has it.
    let two = [&answers[1], &answers[3]];
    assert!(two.iter().any(|it| it.is_ok()) && two.iter().any(|it| refused(it, "two")), "{answers:?}");
    assert!(answers[4].is_ok() && answers[5].is_ok(), "{answers:?}");
    assert_eq!(ledger.head().unwrap().seq, 5);
    assert_eq!(ledger.find("two").unwrap().map(|seq| seq > 2), Some(true));
}

fn what_would_be_found_by_too_long_a_name_is_refused(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    // What stands beside the name in the longest of its keys, and letters that do not get shorter by being compressed.
    let beside = "by_value".len() + 8 + "counter".len();
    let letters = |length: usize| {
        let digits = (0_u64..).map(|n| Hash::of(&n.to_be_bytes()).to_string());
        digits.flat_map(|it| it.into_bytes()).map(char::from).take(length).collect::<String>()
    };
    let longest = letters(2_560 - beside);
    append(&ledger, vec![add(&longest, 1)]);
    let ask = |drafts| ledger.write(|transaction| transaction.append(&command("ana"), drafts));
    let refused = ask(vec![add("a", 1), add(&letters(2_561 - beside), 1)]);
    assert!(matches!(&refused, Err(Error::Malformed(why)) if why.contains("2561 bytes")), "{refused:?}");
    assert_eq!(ledger.head().unwrap().seq, 1);
    assert_eq!(ledger.get(&[Key::new("counter", &longest)]).unwrap()[0].as_ref().map(value_of), Some(1));
    assert_eq!(ledger.history(&Key::new("counter", &longest), 9).unwrap(), vec![1]);
    // What could be recorded can be made again.
    let mut store = ledger.store().unwrap();
    let before = derived(&mut *store);
    rebuild(&mut *store, &Counters, &mut |_| {}).unwrap();
    assert_eq!(derived(&mut *store), before);
}

fn a_key_does_a_thing_once(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    let ask = |request: &'static str, key: &'static str, actor: &'static str| {
        ledger.write(move |transaction| {
            let command = once(actor, key, request);
            if let Some(done) = transaction.remembered(&command)? {
                return Ok((done.first, done.last, done.code));
            }
            let recorded = transaction.append(&command, vec![add("a", 1), add("a", 1)])?;
            Ok((recorded.first, recorded.last, "new".to_owned()))
        })
    };
    assert_eq!(ask("r", "k", "ana").unwrap(), (1, 2, "new".to_owned()));
    assert_eq!(ask("r", "k", "ana").unwrap(), (1, 2, "ADDED".to_owned()));
    let reused = Refused::KeyReused { key: "k".to_owned(), first: 1 };
    assert_eq!(ask("other", "k", "ana"), Err(Error::Refused(reused)));
    // The key belongs to the actor.
    assert_eq!(ask("other", "k", "bob").unwrap(), (3, 4, "new".to_owned()));
    assert_eq!(ask("r", "k2", "ana").unwrap(), (5, 6, "new".to_owned()));
    assert_eq!(ledger.head().unwrap().seq, 6);
}

fn many_writers_lose_and_double_nothing(fresh: &dyn Fn() -> Fresh) {
    const WRITERS: i64 = 16;
    const EACH: i64 = 20;
    let ledger = open(fresh());
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let ledger = &ledger;
            scope.spawn(move || {
                for round in 0..EACH {
                    let actor = format!("w{writer}");
                    let key = format!("k{round}");
                    // Each command reads what it changes.
                    let work = move |transaction: &mut crate::Transaction<'_>| {
                        let before = transaction.get(&[Key::new("counter", "all")])?;
                        let before = before[0].as_ref().map_or(0, value_of);
                        let recorded =
                            transaction.append(&once(&actor, &key, &key), vec![add("all", 1), add(&actor, 1)])?;
                        Ok((before, recorded))
                    };
                    let (before, recorded) = ledger.write(work).unwrap();
                    assert_eq!(recorded.first, 2 * before.cast_unsigned() + 1);
                }
            });
        }
    });
    let all = ledger.get(&[Key::new("counter", "all")]).unwrap();
    assert_eq!(all[0].as_ref().map(value_of), Some(WRITERS * EACH));
    assert_eq!(ledger.head().unwrap().seq, (2 * WRITERS * EACH).cast_unsigned());
    assert_eq!(ledger.count(Table::Remembered).unwrap(), (WRITERS * EACH).cast_unsigned());
}

fn grant(ledger: &Ledger, holder: &str, ttl: i64) -> crate::Result<u64> {
    let mut draft = add("grants", 1);
    draft.lease = Some(LeaseChange::Grant { holder: holder.to_owned(), name: "door".to_owned(), ttl });
    let holder = holder.to_owned();
    ledger.write(move |transaction| Ok(transaction.append(&command(&holder), vec![draft])?.first))
}

fn under(ledger: &Ledger, number: u64) -> crate::Result<Recorded> {
    let held = Held { name: "door".to_owned(), number };
    let command = crate::Command { under: Some(held), ..command("ana") };
    ledger.write(move |transaction| transaction.append(&command, vec![add("work", 1)]))
}

fn a_lease_has_one_holder_and_a_number(fresh: &dyn Fn() -> Fresh) {
    const LONG: i64 = 3_600_000;
    let ledger = Arc::new(open(fresh()));
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let ledger = Arc::clone(&ledger);
            std::thread::spawn(move || grant(&ledger, &format!("caller-{caller}"), LONG))
        })
        .collect();
    let answers: Vec<_> = callers.into_iter().map(|it| it.join().unwrap()).collect();
    let won: Vec<_> = answers.iter().filter_map(|it| it.as_ref().ok()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let number = *won[0];
    let told =
        |error: &Error| matches!(error, Error::Refused(Refused::LeaseHeld { number: held, .. }) if *held == number);
    assert_eq!(answers.iter().filter_map(|it| it.as_ref().err()).filter(|it| told(it)).count(), 7);
    under(&ledger, number).unwrap();
    for wrong in [number + 1, 0] {
        assert!(matches!(under(&ledger, wrong), Err(Error::Refused(Refused::LeaseLost { .. }))));
    }
    let held = Held { name: "door".to_owned(), number };
    let release = |held: Held| {
        let mut draft = add("releases", 1);
        draft.lease = Some(LeaseChange::Release(held));
        ledger.write(move |transaction| transaction.append(&command("ana"), vec![draft]))
    };
    release(held.clone()).unwrap();
    assert!(release(held).is_err());
    assert!(under(&ledger, number).is_err());
    assert!(grant(&ledger, "next", LONG).unwrap() > number);
}

fn pass(hand: Option<&Arc<AtomicI64>>, milliseconds: i64) {
    match hand {
        Some(hand) => {
            hand.fetch_add(milliseconds, Ordering::SeqCst);
        }
        // A store with a clock of its own goes by real time; the deadline is what is waited for.
        None => std::thread::sleep(Duration::from_millis(milliseconds.unsigned_abs())),
    }
}

fn a_lapsed_lease_gives_no_right(fresh: &dyn Fn() -> Fresh) {
    const TTL: i64 = 400;
    let store = fresh();
    let hand = store.hand.clone();
    let ledger = open(store);
    let number = grant(&ledger, "ana", TTL).unwrap();
    let held = Held { name: "door".to_owned(), number };
    let renew = |held: &Held| {
        let held = held.clone();
        ledger.write(move |transaction| transaction.renew(&held))
    };
    let expire = |held: &Held| {
        let mut draft = add("expiries", 1);
        draft.lease = Some(LeaseChange::Expire(held.clone()));
        ledger.write(move |transaction| transaction.append(&command("clock"), vec![draft]))
    };
    renew(&held).unwrap();
    assert!(expire(&held).is_err(), "it has not lapsed");
    assert_eq!(ledger.write(|transaction| transaction.lapsed(10)).unwrap(), vec![]);
    pass(hand.as_ref(), TTL + 1);
    assert!(matches!(under(&ledger, number), Err(Error::Refused(Refused::LeaseLost { .. }))));
    assert!(renew(&held).is_err());
    assert_eq!(ledger.write(|transaction| transaction.lapsed(10)).unwrap(), vec![held.clone()]);
    expire(&held).unwrap();
    assert_eq!(ledger.write(|transaction| transaction.lapsed(10)).unwrap(), vec![]);
    let next = grant(&ledger, "bob", TTL).unwrap();
    assert!(next > number && under(&ledger, number).is_err());
    under(&ledger, next).unwrap();
    if let Some(hand) = hand {
        // The clock goes back an hour: the lease lasts its own length from there, and no longer.
        hand.fetch_sub(3_600_000, Ordering::SeqCst);
        under(&ledger, next).unwrap();
        hand.fetch_add(TTL + 1, Ordering::SeqCst);
        assert!(under(&ledger, next).is_err());
        // A lapsed lease can be granted without being called so first.
        assert!(grant(&ledger, "eve", TTL).unwrap() > next);
    }
}

fn what_is_derived_is_made_again_byte_for_byte(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    for round in 0..700 {
        let mut drafts = vec![add(&format!("c{}", round % 7), round % 5), add("all", 1)];
        drafts[0].texts = vec![text(format!("said in {round}").as_bytes())];
        if round % 50 == 0 {
            let name = format!("door-{}", round % 3);
            let mut grant = add("grants", 1);
            grant.lease = Some(LeaseChange::Grant { holder: "ana".to_owned(), name, ttl: 1 });
            drafts.push(grant);
        }
        let command = once("ana", &format!("k{round}"), "r");
        // A lease that is still held refuses the whole; that is part of the history too.
        let _ = ledger.write(move |transaction| transaction.append(&command, drafts));
    }
    let mut store = ledger.store().unwrap();
    let before = derived(&mut *store);
    assert!(before.len() > 1000);
    rebuild(&mut *store, &Counters, &mut |_| {}).unwrap();
    assert_eq!(derived(&mut *store), before);
    // Also when it was wrong before.
    store.begin().unwrap();
    store.clear(Table::Entity).unwrap();
    store.clear(Table::Tile).unwrap();
    store.commit().unwrap();
    rebuild(&mut *store, &Counters, &mut |_| {}).unwrap();
    assert_eq!(derived(&mut *store), before);
    append(&ledger, vec![add("all", 1)]);
}

fn derived(store: &mut dyn crate::Store) -> Vec<crate::Row> {
    let mut all = Vec::new();
    for table in Table::DERIVED {
        pages::rows(store, table, &mut |row| {
            all.push(row);
            Ok(())
        })
        .unwrap();
    }
    all
}

fn proofs_hold_for_every_event_and_size(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    let mut edge = tree::Edge::default();
    let mut roots = vec![edge.root()];
    for _ in 0..6 {
        append(&ledger, (0..100).map(|_| add("a", 1)).collect());
    }
    let rows = ledger.events(1, None, 1000).unwrap();
    for row in &rows {
        edge.add(tree::leaf(&row.body), |_, _| {});
        roots.push(edge.root());
    }
    let mut store = ledger.store().unwrap();
    for size in [1, 2, 3, 255, 256, 257, 512, 513, 600] {
        let root = tree::root_at(&mut *store, size).unwrap();
        assert_eq!(root, roots[size as usize]);
        for seq in [1, 2, 255, 256, 257, 300, 512, 600].into_iter().filter(|seq| *seq <= size) {
            let proof = tree::prove_event(&mut *store, size, seq).unwrap();
            let leaf = tree::leaf(&rows[seq as usize - 1].body);
            assert!(tree::check_event(&proof, size, root, seq, leaf));
            assert!(!tree::check_event(&proof, size, root, seq, tree::leaf("another")));
            assert!(!tree::check_event(&proof, size, roots[0], seq, leaf));
        }
    }
    assert!(tree::prove_event(&mut *store, 600, 601).is_err());
}

fn a_reopened_ledger_goes_on_where_it_was(fresh: &dyn Fn() -> Fresh) {
    let ledger = open(fresh());
    append(&ledger, (0..300).map(|_| add("a", 1)).collect());
    let store = ledger.store().unwrap();
    drop(ledger);
    let fold: Arc<dyn Fold> = Arc::new(Counters);
    let ledger = Ledger::open(store, Arc::clone(&fold)).unwrap();
    assert_eq!(ledger.project(), "test-project");
    append(&ledger, (0..300).map(|_| add("a", 1)).collect());
    let mut store = ledger.store().unwrap();
    let before = derived(&mut *store);
    rebuild(&mut *store, &Counters, &mut |_| {}).unwrap();
    assert_eq!(derived(&mut *store), before);
    assert_eq!(value_of(ledger.get(&[Key::new("counter", "a")]).unwrap()[0].as_ref().unwrap()), 600);
}
