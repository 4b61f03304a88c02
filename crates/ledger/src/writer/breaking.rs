//! A store that breaks or fails in the middle of a commit, and what becomes of those who wait for it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use super::*;
use crate::conformance::{Counters, add, once, value_of};
use crate::ledger::Ledger;
use crate::rows::{EventRow, Key, Liveness, Row, RowValue, Table, TextRow};
use crate::sqlite::Sqlite;
use crate::store::Batch;
use crate::{Clock, Time, Verifying, verify};
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// Where it breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// When it has the writer's place.
    Begin,
    /// When it has written, and not committed.
    Apply,
    /// When it has committed, and said nothing yet.
    Commit,
    /// It does not break when it is to commit: it says that it does not know, and has not.
    Doubt,
    /// The same, and it has.
    DoubtWritten,
    /// When all have been answered.
    Settle,
}

/// Breaks once, after so many commits.
struct Fuse {
    at: At,
    after: AtomicUsize,
    /// What happens meanwhile.
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Fuse {
    fn burns(&self, at: At) -> bool {
        let left = |left: usize| left.checked_sub(1);
        let burns = at == self.at && self.after.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left) == Ok(1);
        if burns {
            (self.meanwhile)();
        }
        burns
    }

    fn burn(&self, at: At) {
        assert!(!self.burns(at), "the store broke at {at:?}");
    }
}

struct Breaking {
    store: Sqlite,
    path: PathBuf,
    fuse: Arc<Fuse>,
}

impl Breaking {
    fn commit_by(&mut self, commit: fn(&mut Sqlite) -> Result<()>) -> Result<()> {
        if self.fuse.burns(At::Doubt) {
            self.store.rollback();
            return Err(Error::Unknown("the disk has not answered".to_owned()));
        }
        if self.fuse.at == At::DoubtWritten {
            // Like whoever does not know, it gives the place up.
            let committed =
                if self.fuse.after.load(Ordering::SeqCst) == 1 { Sqlite::commit } else { commit }(&mut self.store);
            let doubt = Err(Error::Unknown("the disk has not answered".to_owned()));
            return if self.fuse.burns(At::DoubtWritten) { doubt } else { committed };
        }
        let committed = commit(&mut self.store);
        self.fuse.burn(At::Commit);
        committed
    }
}

impl Store for Breaking {
    fn begin(&mut self) -> Result<Begun> {
        let begun = self.store.begin();
        self.fuse.burn(At::Begin);
        begun
    }

    fn begin_within(&mut self, patience: Duration) -> Result<Begun> {
        self.store.begin_within(patience)
    }

    fn begin_now(&mut self) -> Result<Option<Begun>> {
        let begun = self.store.begin_now();
        self.fuse.burn(At::Begin);
        begun
    }

    fn writes_beside(&self) -> bool {
        self.store.writes_beside()
    }

    fn apply(&mut self, batch: &Batch) -> Result<()> {
        let applied = self.store.apply(batch);
        self.fuse.burn(At::Apply);
        applied
    }

    fn clock(&self) -> Option<Time> {
        self.store.clock()
    }

    fn commit(&mut self) -> Result<()> {
        self.commit_by(Sqlite::commit)
    }

    fn commit_and_stay(&mut self) -> Result<()> {
        self.commit_by(Sqlite::commit_and_stay)
    }

    fn begin_next(&mut self) -> Result<Begun> {
        let begun = self.store.begin_next();
        self.fuse.burn(At::Begin);
        begun
    }

    fn is_awaited(&mut self) -> bool {
        self.store.is_awaited()
    }

    fn settle(&mut self) {
        self.store.settle();
        self.fuse.burn(At::Settle);
    }

    fn another(&self) -> Result<Box<dyn Store>> {
        let store = Sqlite::open(&self.path, Clock::System)?;
        Ok(Box::new(Self { store, path: self.path.clone(), fuse: Arc::clone(&self.fuse) }))
    }

    fn clear(&mut self, table: Table) -> Result<()> {
        self.store.clear(table)
    }

    fn rollback(&mut self) {
        self.store.rollback();
    }

    fn get(&mut self, keys: &[RowKey]) -> Result<Vec<Option<RowValue>>> {
        self.store.get(keys)
    }

    fn range(&mut self, from: &RowKey, to: Option<&RowKey>, limit: usize) -> Result<Vec<Row>> {
        self.store.range(from, to, limit)
    }

    fn head(&mut self) -> Result<Head> {
        self.store.head()
    }

    fn events(&mut self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>> {
        self.store.events(from, run, limit)
    }

    fn find(&mut self, id: &str) -> Result<Option<u64>> {
        self.store.find(id)
    }

    fn texts(&mut self, from: u64, to: u64) -> Result<Vec<TextRow>> {
        self.store.texts(from, to)
    }

    fn sizes(&mut self, from: u64, limit: usize) -> Result<Vec<u64>> {
        self.store.sizes(from, limit)
    }

    fn wait(&mut self, seq: u64, patience: Duration) -> Result<Head> {
        self.store.wait(seq, patience)
    }

    fn rest(&mut self) {
        self.store.rest();
    }

    fn scrub(&mut self) -> Result<()> {
        self.store.scrub()
    }

    fn backup(&mut self, to: &Path) -> Result<()> {
        self.store.backup(to)
    }

    fn writer(&self) -> Option<String> {
        self.store.writer()
    }

    fn examine(&mut self) -> Result<Vec<String>> {
        self.store.examine()
    }

    fn describe(&mut self) -> Result<Vec<(String, String)>> {
        self.store.describe()
    }
}

/// Adds to a counter once, whoever asks how often.
fn count(ledger: &Ledger, key: &str) -> Result<u64> {
    let command = once("ana", key, key);
    ledger.write(move |transaction| match transaction.remembered(&command)? {
        Some(done) => Ok(done.first),
        None => transaction.append(&command, vec![add("all", 1)]).map(|it| it.first),
    })
}

/// Some clients write at once while the store breaks under one of their commits. Gives each one's key and answer.
fn crowd(ledger: &Ledger, clients: usize, each: usize) -> Vec<(String, Result<u64>)> {
    let together = Barrier::new(clients);
    std::thread::scope(|scope| {
        let client = |client: usize| {
            let (ledger, together) = (&*ledger, &together);
            scope.spawn(move || {
                together.wait();
                let ask = |n: usize| {
                    let key = format!("{client}-{n}");
                    let answer = count(ledger, &key);
                    (key, answer)
                };
                (0..each).map(ask).collect::<Vec<_>>()
            })
        };
        let clients: Vec<_> = (0..clients).map(client).collect();
        clients.into_iter().flat_map(|it| it.join().unwrap()).collect()
    })
}

#[test]
fn whoever_waits_for_a_writer_that_breaks_is_told_and_the_next_rest_on_what_is_there() {
    for at in [At::Begin, At::Apply, At::Commit, At::Doubt, At::Settle] {
        // A crowd goes on afterwards, whether or not it is so large that the scribe is called, and once the tree is known in a
        // relay; who is alone is broken with its last command.
        for (clients, after) in [(1, 24), (24, 5), (2 * CROWD, 3), (2 * CROWD, 20)] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("ledger.db");
            let store = Sqlite::create(&path, Clock::System).unwrap();
            drop(Ledger::create(Box::new(store), Arc::new(Counters), "test-project").unwrap());
            let fuse = Arc::new(Fuse { at, after: AtomicUsize::new(after), meanwhile: Box::new(|| {}) });
            let store = Sqlite::open(&path, Clock::System).unwrap();
            let breaking = Breaking { store, path: path.clone(), fuse };
            let ledger = Ledger::open(Box::new(breaking), Arc::new(Counters)).unwrap();
            let answers = crowd(&ledger, clients, 24);
            let what = format!("{at:?} with {clients}");
            let unknown: Vec<_> = answers.iter().filter(|(_, answer)| answer.is_err()).collect();
            // That error says what to do. What was in doubt was looked for, and is not there; nor is what a crowd had decided
            // while that which broke was written.
            let rests = |why: &str| clients == 2 * CROWD && why.contains("it rests on");
            let told = |answer: &Result<u64>| match answer {
                Err(Error::NotWritten(why)) => at == At::Doubt || rests(why),
                answer => at != At::Doubt && matches!(answer, Err(Error::Unknown(_))),
            };
            assert!(unknown.iter().all(|(_, answer)| told(answer)), "{what}: {unknown:?}");
            for (key, _) in unknown.iter().filter(|(_, answer)| matches!(answer, Err(Error::NotWritten(_)))) {
                let key = RowKey::Remembered(["ana", "counter.add", key].map(Into::into));
                assert_eq!(ledger.store().unwrap().get(&[key]).unwrap(), vec![None], "{what}");
            }
            // Who had their answer before it broke has nothing to be told, nor has who was not taken up yet.
            let at_next = at == At::Begin && clients == 2 * CROWD;
            assert!(at == At::Settle || at_next || !unknown.is_empty(), "{what}");
            // Somebody else gets the place, though nobody here has asked for anything since.
            let other = Ledger::open(Box::new(Sqlite::open(&path, Clock::System).unwrap()), Arc::new(Counters));
            let other = other.unwrap().with_patience(Duration::from_secs(5));
            count(&other, "other").unwrap();
            // What was acknowledged is there where it was said to be; what was not is done once by being repeated.
            for (key, answer) in &answers {
                let again = count(&ledger, key).unwrap();
                assert!(answer.as_ref().map_or(true, |first| *first == again), "{what}: {key}");
            }
            let all = ledger.get(&[Key::new("counter", "all")]).unwrap().remove(0).unwrap();
            assert_eq!(value_of(&all), answers.len() as i64 + 1, "{what}");
            let mut store = ledger.store().unwrap();
            let verified = verify(&mut *store, &Counters, &Verifying::default(), &mut |_, _| {}).unwrap();
            assert_eq!(verified.findings, vec![], "{what}");
        }
    }
}

/// The first half of a crowd is held in its commit until the second half, or a part of it, was decided.
#[test]
fn who_rests_on_a_commit_that_fails_or_is_in_doubt_is_not_written() {
    for at in [At::Apply, At::Commit, At::Doubt, At::DoubtWritten] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let decided = Arc::new(AtomicUsize::new(0));
        let (counted, elsewhere) = (Arc::clone(&decided), path.clone());
        let meanwhile = Box::new(move || {
            while counted.load(Ordering::SeqCst) < CROWD + 8 {
                std::thread::yield_now();
            }
            // Somebody else who leaves no event, where the place was given up.
            if at == At::DoubtWritten {
                let mut other = Sqlite::open(&elsewhere, Clock::System).unwrap();
                other.begin().unwrap();
                let alive = Liveness { number: 1, beat: Time(1), deadline: Time(2) };
                let put = vec![(RowKey::Liveness("other".into()), RowValue::Liveness(alive))];
                other.apply(&Batch { put, ..Batch::default() }).unwrap();
                other.commit().unwrap();
            }
        });
        // The first of all makes the ledger.
        let fuse = Arc::new(Fuse { at, after: AtomicUsize::new(2), meanwhile });
        let store = Sqlite::create(&path, Clock::System).unwrap();
        let mut writer = super::tests::writer(Box::new(Breaking { store, path, fuse }));
        let noted = |n: usize| -> Work {
            let decided = Arc::clone(&decided);
            Box::new(move |transaction| {
                decided.fetch_add(1, Ordering::SeqCst);
                super::tests::counting(n)(transaction)
            })
        };
        let outcomes = super::tests::run(&mut writer, (0..2 * CROWD).map(noted).collect());
        for (n, outcome) in outcomes.iter().enumerate() {
            let told = match (outcome, at) {
                (Ok(()), At::DoubtWritten) => !(CROWD..CROWD + 8).contains(&n),
                (Ok(()), _) => n >= CROWD + 8,
                (Err(Error::Unknown(_)), At::Apply | At::Commit) => n < CROWD,
                (Err(Error::NotWritten(_)), At::Doubt) => true,
                (Err(Error::NotWritten(_)), _) => n >= CROWD,
                _ => false,
            };
            assert!(told, "{at:?}, command {n}: {outcome:?}");
            let key = RowKey::Remembered(["ana", "counter.add", &format!("key-{n}")].map(Into::into));
            let is_there = writer.store.get(&[key]).unwrap()[0].is_some();
            assert!(outcome.is_ok() == is_there || matches!(outcome, Err(Error::Unknown(_))), "{at:?}, command {n}");
        }
        super::tests::sound(&mut writer);
    }
}
