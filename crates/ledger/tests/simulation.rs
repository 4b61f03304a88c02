//! Random commands against every store at once, and against an auditor that knows what must come of them.
//!
//! A seed is a whole history: the same commands, ids and times, so that every store must end with the same hash.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod auditor;
mod dice;

use auditor::{Answered, Asked, Auditor, Change, Wanted};
use countersign_ledger::conformance::{Counters, Fresh, add, command, once, text, value_of};
use countersign_ledger::{
    Clock, Command, Draft, Error, Held, LeaseChange, Ledger, Memory, Refused, Row, Sqlite, Store, Table, Time,
    Verifying, pages, rebuild, verify,
};
use dice::{Dice, Rounds};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

const START: i64 = 1_800_000_000_000;
const STEPS: u64 = 60;

/// A ledger under test, with a second handle by which it is opened again.
struct Subject {
    name: &'static str,
    ledger: Option<Ledger>,
    handle: Box<dyn Store>,
    hand: Option<Arc<AtomicI64>>,
}

impl Subject {
    fn new(name: &'static str, fresh: Fresh) -> Self {
        let handle = fresh.store.another().unwrap();
        let ledger = Ledger::create(fresh.store, Arc::new(Counters), "test-project").unwrap();
        Self { name, ledger: Some(ledger), handle, hand: fresh.hand }
    }

    fn ledger(&self) -> &Ledger {
        self.ledger.as_ref().unwrap()
    }

    fn reopen(&mut self) {
        self.ledger = None;
        self.ledger = Some(Ledger::open(self.handle.another().unwrap(), Arc::new(Counters)).unwrap());
    }

    fn rows(&mut self, table: Table) -> Vec<Row> {
        let mut rows = Vec::new();
        let each = &mut |row| {
            rows.push(row);
            Ok(())
        };
        pages::rows(&mut *self.handle, table, each).unwrap();
        rows
    }
}

/// Whatever makes an empty store, by name. A store whose clock cannot be moved takes part without the clock.
type Stores<'a> = &'a [(&'static str, &'a dyn Fn() -> Fresh)];

struct Simulation {
    subjects: Vec<Subject>,
    auditor: Auditor,
    dice: Dice,
    step: u64,
    /// Whether all clocks can be moved; then all logs are the same to the byte.
    timed: bool,
}

impl Simulation {
    fn new(stores: Stores<'_>, seed: u64) -> Self {
        let subjects: Vec<_> = stores.iter().map(|(name, fresh)| Subject::new(name, fresh())).collect();
        let timed = subjects.iter().all(|it| it.hand.is_some());
        let mut auditor = Auditor::default();
        auditor.now = START;
        let mut simulation = Self { subjects, auditor, dice: Dice::of(seed), step: 0, timed };
        simulation.move_clock(0);
        simulation
    }

    fn run(&mut self) {
        for step in 0..STEPS {
            self.step = step;
            match self.dice.below(20) {
                0..=9 => self.command(),
                10..=12 => self.renew(),
                13 | 14 => self.lapsed(),
                15..=17 if self.timed => {
                    let by = *self.dice.pick(&[1, 9, 10, 90, 100, 900, 5_000, -1, -50, -1_000, -100_000]);
                    self.move_clock(by);
                }
                18 => self.subjects.iter_mut().for_each(Subject::reopen),
                19 => self.rebuild(),
                _ => {}
            }
            if step % 10 == 9 {
                self.compare();
            }
        }
        self.compare();
        self.verify();
    }

    fn move_clock(&mut self, by: i64) {
        self.auditor.now += by;
        for hand in self.subjects.iter().filter_map(|it| it.hand.as_ref()) {
            hand.store(self.auditor.now, Ordering::SeqCst);
        }
    }

    /// A lease's name with its number, or with one that it does not have.
    fn lease(&mut self) -> (String, u64) {
        let name = format!("lease-{}", self.dice.below(3));
        let number = self.auditor.number(&name);
        let wrong = self.dice.below(6) == 0;
        (name, if wrong { number.saturating_sub(1) } else { number })
    }

    fn wanted(&mut self) -> Wanted {
        let dice = &mut self.dice;
        let mut wanted = Wanted {
            counter: format!("c{}", dice.below(5)),
            add: *dice.pick(&[1, 2, -3, 0, 7]),
            run: (dice.below(3) == 0).then(|| format!("run-{}", dice.below(2))),
            ..Wanted::default()
        };
        for _ in 0..*dice.pick(&[0, 0, 0, 1, 2]) {
            let length = *dice.pick(&[0, 1, 30, 70_000]);
            let letter = dice.next().to_le_bytes()[0];
            wanted.texts.push(vec![letter; length]);
        }
        wanted
    }

    fn command(&mut self) {
        let actor = (*self.dice.pick(&["ana", "bob"])).to_owned();
        let count = 1 + self.dice.below(3);
        let mut events: Vec<_> = (0..count).map(|_| self.wanted()).collect();
        let (name, number) = self.lease();
        let at = self.dice.below(count) as usize;
        events[at].lease = match self.dice.below(9) {
            0..=2 => {
                let ttl = if self.timed { *self.dice.pick(&[10, 100, 1_000]) } else { 3_600_000 };
                Some(Change::Grant { holder: actor.clone(), name: name.clone(), ttl })
            }
            3 => Some(Change::Release(name.clone(), number)),
            4 => Some(Change::Expire(name.clone(), number)),
            _ => None,
        };
        if self.dice.below(4) == 0 {
            let known: Vec<_> = self.auditor.texts.keys().copied().collect();
            let place = match known.is_empty() || self.dice.below(5) == 0 {
                // One that was never there.
                true => (1 + self.dice.below(self.auditor.head + 3), 5),
                false => *self.dice.pick(&known),
            };
            events[0].erase.push(place);
        }
        let once = (self.dice.below(3) == 0).then(|| {
            let request = if self.dice.below(4) == 0 { "other" } else { "request" };
            (format!("key-{}", self.dice.below(6)), request.to_owned())
        });
        let under = (self.dice.below(4) == 0).then(|| self.lease());
        let refuses = self.dice.below(8) == 0;
        self.ask(&Asked { actor, once, under, events, refuses });
    }

    fn ask(&mut self, asked: &Asked) {
        let expected = self.auditor.ask(asked);
        for subject in &self.subjects {
            let (command, drafts) = (command_of(asked), drafts_of(asked, self.step));
            let refuses = asked.refuses;
            let answer = subject.ledger().write(move |transaction| {
                if let Some(done) = transaction.remembered(&command)? {
                    return Ok(Answered::Remembered(done.first, done.last));
                }
                let recorded = transaction.append(&command, drafts)?;
                match refuses {
                    true => Err(Error::Malformed("on second thoughts".to_owned())),
                    false => Ok(Answered::Recorded(recorded.first, recorded.last)),
                }
            });
            assert_eq!(answered(answer), expected, "{} at step {}: {asked:#?}", subject.name, self.step);
        }
    }

    fn renew(&mut self) {
        let (name, number) = self.lease();
        let expected = self.auditor.renew(&name, number);
        for subject in &self.subjects {
            let held = Held { name: name.clone(), number };
            let answer = subject.ledger().write(move |transaction| transaction.renew(&held));
            let answer = answered(answer.map(|deadline| Answered::Renewed(deadline.0)));
            let same = answer == expected || (!self.timed && matches!(answer, Answered::Renewed(_)));
            assert!(same, "{} at step {}: {answer:?}, and must be {expected:?}", subject.name, self.step);
        }
    }

    fn lapsed(&mut self) {
        let expected: Vec<_> = self.auditor.lapsed();
        for subject in &self.subjects {
            let found = subject.ledger().write(|transaction| transaction.lapsed(10)).unwrap();
            let found: Vec<_> = found.into_iter().map(|it| (it.name, it.number)).collect();
            assert_eq!(found, expected, "{} at step {}", subject.name, self.step);
        }
    }

    fn rebuild(&mut self) {
        for subject in &mut self.subjects {
            rebuild(&mut *subject.handle, &Counters, &mut |_| {}).unwrap();
        }
    }

    /// Holds everything that can be read against the auditor, and the stores against each other.
    fn compare(&mut self) {
        for subject in &mut self.subjects {
            let head = subject.ledger().head().unwrap();
            assert_eq!(head.seq, self.auditor.head, "{}", subject.name);
            let mut counters = BTreeMap::new();
            for (_, value) in subject.rows(Table::Entity) {
                if let countersign_ledger::RowValue::Entity(entity) = value {
                    counters.insert(entity.key.id.to_string(), value_of(&entity));
                }
            }
            assert_eq!(counters, self.auditor.counters, "{}", subject.name);
            for (run, events) in &self.auditor.runs {
                let found = subject.ledger().events(1, Some(run), 1_000).unwrap();
                assert_eq!(found.iter().map(|it| it.seq).collect::<Vec<_>>(), *events, "{} {run}", subject.name);
            }
            let texts = subject.handle.texts(1, head.seq + 1).unwrap();
            let texts: BTreeMap<_, _> =
                texts.into_iter().map(|it| ((it.seq, it.n), it.text.map(|text| text.body))).collect();
            assert_eq!(texts, self.auditor.texts, "{}", subject.name);
        }
        if self.timed {
            let mut all = self.subjects.iter_mut().map(|subject| {
                let rows: Vec<_> = Table::DERIVED.into_iter().map(|table| subject.rows(table)).collect();
                (subject.name, subject.handle.head().unwrap(), rows)
            });
            let (_, head, rows) = all.next().unwrap();
            for (name, other_head, other_rows) in all {
                assert_eq!((other_head, other_rows), (head, rows.clone()), "{name}");
            }
        }
    }

    fn verify(&mut self) {
        for subject in &mut self.subjects {
            let verified = verify(&mut *subject.handle, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
            let left = |it: &countersign_ledger::Finding| {
                it.what.contains("no event names any more") || it.what.contains("an erasure was not finished")
            };
            let found: Vec<_> = verified.findings.into_iter().filter(|it| !left(it)).collect();
            assert_eq!(found, [], "{}", subject.name);
            subject.handle.scrub().unwrap();
            assert_eq!(subject.handle.examine().unwrap(), Vec::<String>::new(), "{}", subject.name);
        }
    }
}

fn command_of(asked: &Asked) -> Command {
    let under = asked.under.as_ref().map(|(name, number)| Held { name: name.clone(), number: *number });
    match &asked.once {
        Some((key, request)) => Command { under, ..once(&asked.actor, key, request) },
        None => Command { under, ..command(&asked.actor) },
    }
}

fn drafts_of(asked: &Asked, step: u64) -> Vec<Draft> {
    let draft = |(n, wanted): (usize, &Wanted)| Draft {
        id: Some(format!("step-{step}-{n}")),
        run: wanted.run.clone(),
        texts: wanted.texts.iter().map(|body| text(body)).collect(),
        lease: wanted.lease.clone().map(|change| match change {
            Change::Grant { holder, name, ttl } => LeaseChange::Grant { holder, name, ttl },
            Change::Release(name, number) => LeaseChange::Release(Held { name, number }),
            Change::Expire(name, number) => LeaseChange::Expire(Held { name, number }),
        }),
        erase: wanted.erase.clone(),
        ..add(&wanted.counter, wanted.add)
    };
    asked.events.iter().enumerate().map(draft).collect()
}

fn answered(answer: countersign_ledger::Result<Answered>) -> Answered {
    match answer {
        Ok(answered) => answered,
        Err(Error::Refused(Refused::KeyReused { first, .. })) => Answered::KeyReused(first),
        Err(Error::Refused(Refused::LeaseHeld { number, .. })) => Answered::LeaseHeld(number),
        Err(Error::Refused(Refused::LeaseLost { .. })) => Answered::LeaseLost,
        Err(Error::Malformed(_)) => Answered::Malformed,
        Err(other) => panic!("nobody expects this: {other}"),
    }
}

fn memory() -> Fresh {
    let (clock, hand) = Clock::manual(Time(START));
    Fresh { store: Box::new(Memory::new(clock)), hand: Some(hand) }
}

/// Files in a folder, of which the last is gone as soon as its history is.
#[derive(Default)]
struct Files {
    folder: Option<tempfile::TempDir>,
}

impl Files {
    fn sqlite(&mut self) -> Fresh {
        let (clock, hand) = Clock::manual(Time(START));
        let folder = self.folder.insert(tempfile::tempdir().unwrap());
        Fresh { store: Box::new(Sqlite::create(&folder.path().join("ledger.db"), clock).unwrap()), hand: Some(hand) }
    }
}

/// One seed after the other, or the one that was asked for.
fn simulate(histories: u64, what: &str, stores: Stores<'_>) {
    let first = dice::seed_asked().unwrap_or_else(|| Dice::thrown().next());
    let mut rounds = Rounds::of(if dice::seed_asked().is_some() { 1 } else { histories });
    for round in rounds.by_ref() {
        Simulation::new(stores, first.wrapping_add(round)).run();
    }
    dice::count(what, rounds.done());
}

#[test]
fn every_store_answers_as_the_auditor_does() {
    let files = RefCell::new(Files::default());
    let stores: Stores<'_> = &[("memory", &memory), ("sqlite", &|| files.borrow_mut().sqlite())];
    simulate(30, "histories simulated in memory and SQLite with the same end", stores);
}

/// The clock of a server cannot be moved: here it stands still for the others, and no lease lapses.
#[cfg(unix)]
#[test]
fn postgres_answers_as_the_auditor_and_the_other_stores_do() {
    let server = countersign_ledger::conformance::postgres_server::shared();
    let (files, number) = (RefCell::new(Files::default()), AtomicI64::new(0));
    let postgres = || {
        let project = format!("history-{}", number.fetch_add(1, Ordering::SeqCst));
        let store = countersign_ledger::Postgres::create(&server.url(), &project).unwrap();
        Fresh { store: Box::new(store), hand: None }
    };
    let stores: Stores<'_> =
        &[("memory", &memory), ("sqlite", &|| files.borrow_mut().sqlite()), ("postgres", &postgres)];
    simulate(8, "histories simulated on all stores", stores);
}
