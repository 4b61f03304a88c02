//! The ledger: a store with a chain, a tree, leases and idempotency built on it.

use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::later::{Pending, keeping};
use crate::queue::{Queue, Work};
use crate::rows::{Entity, EventRow, Key, Name, RowKey, RowValue, Table, TextRow};
use crate::store::{Batch, Head, Store};
use crate::transaction::{Hit, Scan, Transaction, entity, scan_one};
use crate::writer::{META_CLOSED, META_PROJECT, META_SHAPE, Writer, meta};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

/// How long a command waits for the writer's place unless told otherwise.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Up to this many events an older shape is brought up to date without being asked.
pub const REBUILD_UNASKED_MAX: u64 = 100_000;
/// How many events are read at once.
pub const PAGE_EVENTS: usize = 1_000;

/// A project's ledger, open. It may be shared by threads; opening it does not read the past.
pub struct Ledger {
    project: String,
    readers: Mutex<Vec<Box<dyn Store>>>,
    origin: Mutex<Box<dyn Store>>,
    queue: Arc<Queue>,
    about: Arc<AtomicUsize>,
    writer: Arc<Mutex<Writer>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
    in_line: Arc<AtomicBool>,
    patience: Duration,
    is_far: bool,
}

impl Ledger {
    /// Makes the ledger of a project in an empty store. Where one was begun already, that one is taken, whichever project
    /// it is of: of several who begin at once, all get the ledger of the first.
    pub fn create(mut store: Box<dyn Store>, fold: Arc<dyn Fold>, project: &str) -> Result<Self> {
        named(project)?;
        let begun = store.begin_within(PATIENCE)?;
        if begun.meta(META_PROJECT).is_some() {
            store.rollback();
        } else if begun.head.seq > 0 {
            store.rollback();
            return Err(nameless(begun.head.seq));
        } else {
            let row = |name, value: String| (meta(name), RowValue::Meta(value));
            let put = vec![row(META_PROJECT, project.to_owned()), row(META_SHAPE, fold.shape().to_string())];
            store.apply(&Batch { put, ..Batch::default() })?;
            store.commit()?;
        }
        Self::open(store, fold)
    }

    /// The project whose ledger is in a store, if one was begun there.
    pub fn project_in(mut store: Box<dyn Store>) -> Result<Option<String>> {
        match store.get(&[meta(META_PROJECT)])?.pop().flatten() {
            Some(RowValue::Meta(project)) => Ok(Some(project)),
            _ => Ok(None),
        }
    }

    /// Opens the ledger that is in a store. Its derived rows are brought up to date if they are of an older shape and the
    /// log is short.
    pub fn open(mut store: Box<dyn Store>, fold: Arc<dyn Fold>) -> Result<Self> {
        let mut rows = store.get(&[meta(META_PROJECT), meta(META_SHAPE), meta(META_CLOSED)])?.into_iter();
        let mut text = || match rows.next().flatten() {
            Some(RowValue::Meta(text)) => Some(text),
            _ => None,
        };
        let Some(project) = text() else {
            let events = store.head()?.seq;
            let empty = || Error::Closed("this ledger has no project yet; run `countersign init`".to_owned());
            return Err(if events > 0 { nameless(events) } else { empty() });
        };
        named(&project)?;
        let shape = text().and_then(|it| it.parse::<u32>().ok()).unwrap_or(0);
        let closed = text();
        if shape < fold.shape() && closed.is_none() && store.head()?.seq <= REBUILD_UNASKED_MAX {
            match crate::rebuild::rebuild(&mut *store, &*fold, &mut |_| {}) {
                // Where it may only be read, it is read as it is.
                Ok(_) | Err(Error::Closed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        // What is open already reads: many who open a ledger ask it something and write nothing.
        let (origin, writing) = (Mutex::new(store.another()?), store.another()?);
        store.rest();
        let readers = Mutex::new(vec![store]);
        let (queue, about) = (Arc::<Queue>::default(), Arc::<AtomicUsize>::default());
        let in_line = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            store: writing,
            reader: None,
            no_reader_until: None,
            scribe: None,
            fold: Arc::clone(&fold),
            project: project.clone(),
            queue: Arc::clone(&queue),
            known: None,
            about: Arc::clone(&about),
            in_line: Arc::clone(&in_line),
        };
        let is_far = lock(&origin).is_far();
        let (writer, thread) = (Arc::new(Mutex::new(writer)), Mutex::new(None));
        Ok(Self { project, readers, origin, queue, about, writer, thread, in_line, patience: PATIENCE, is_far })
    }

    /// Has somebody who serves the queue, from the first time on that somebody stands in it.
    fn be_served(&self) -> Result<()> {
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            let (shared, served) = (Arc::clone(&self.writer), Served(Arc::clone(&self.queue)));
            let rounds = move || {
                while let Some(first) = served.0.first() {
                    lock(&shared).round(first);
                }
            };
            let started = std::thread::Builder::new().name("ledger".to_owned()).spawn(rounds);
            *thread = Some(started.map_err(|error| Error::NotWritten(format!("no thread can be had: {error}")))?);
        }
        Ok(())
    }

    /// The same, with more or less patience for the writer's place.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Whether every question to it is a journey, which can take as long as it pleases.
    pub fn is_far(&self) -> bool {
        self.is_far
    }

    /// The project's id.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Does some work in the write transaction, and answers once it is durable. The work sees everything before it and
    /// nothing after; if it fails, it has left no trace. It may share its commit with others. It runs at most once.
    pub fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.write_looking_at(Vec::new(), work)
    }

    /// The same for work of which it is known what it will look at. The rows of all that share a commit are then read at
    /// once, which spares each of them a round trip to a server; whatever else it looks at, it sees as well.
    pub fn write_looking_at<T: Send + 'static>(
        &self,
        looks_at: Vec<RowKey>,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (work, made) = keeping(work);
        match self.alone(work) {
            Ok(outcome) => outcome?,
            Err(work) => self.in_line(work, looks_at)?,
        }
        made.take()
    }

    /// Has work done as [`Ledger::write_looking_at`] does, for those who have no thread to wait for it with: it stands in line,
    /// and this thread is kept by nothing. It is done whether or not somebody waits for it, unless it is given up, or the ledger is
    /// closed while its writer still stands in line.
    pub fn write_later<T: Send + 'static>(
        &self,
        looks_at: Vec<RowKey>,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<Pending<T>> {
        self.be_served()?;
        let (work, made) = keeping(work);
        let stub = self.queue.push_polled(work, looks_at).ok_or_else(closed)?;
        Ok(Pending { made, stub })
    }

    /// How long a command waits for the writer's place.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Why somebody does not wait any longer for the writer's place.
    pub fn busy(&self) -> Error {
        Error::busy(self.patience, lock(&self.origin).writer())
    }

    /// Does the work in this thread if nobody else is about, and gives it back otherwise.
    fn alone(&self, work: Work) -> std::result::Result<Result<()>, Work> {
        let crowded = self.queue.waiting() > 0 || self.about.load(Ordering::SeqCst) > 1;
        match self.writer.try_lock() {
            Ok(mut writer) if !crowded => writer.alone(work),
            Ok(_) | Err(TryLockError::WouldBlock) => Err(work),
            Err(TryLockError::Poisoned(writer)) => writer.into_inner().alone(work),
        }
    }

    /// Has the work done by the writer, with all that wait.
    fn in_line(&self, work: Work, looks_at: Vec<RowKey>) -> Result<()> {
        self.be_served()?;
        let stub = self.queue.push(work, looks_at).ok_or_else(closed)?;
        if let Some(outcome) = stub.wait(self.patience) {
            return outcome;
        }
        if stub.give_up() {
            return Err(self.busy());
        }
        // It was taken up: what becomes of it is worth waiting for once more.
        stub.wait(self.patience).unwrap_or_else(|| Err(Error::Unknown("the commit has not returned".to_owned())))
    }

    /// A handle for reading beside the writer; it goes back when it is dropped.
    pub fn reader(&self) -> Result<Reader<'_>> {
        let pooled = lock(&self.readers).pop();
        let store = match pooled {
            Some(store) => store,
            None => lock(&self.origin).another()?,
        };
        Ok(Reader { pool: &self.readers, store: Some(store) })
    }

    /// The end of the log.
    pub fn head(&self) -> Result<Head> {
        self.reader()?.head()
    }

    /// The entities of some keys.
    pub fn get(&self, keys: &[Key]) -> Result<Vec<Option<Entity>>> {
        let keys: Vec<_> = keys.iter().cloned().map(RowKey::Entity).collect();
        Ok(self.reader()?.get(&keys)?.into_iter().map(entity).collect())
    }

    /// What lies in a stretch of an index.
    pub fn scan(&self, scan: &Scan) -> Result<Vec<Hit>> {
        let mut reader = self.reader()?;
        scan_one(scan, |from, to, limit| reader.range(from, to, limit))
    }

    /// At most `limit` events from `from` on; of one run only, if that is given.
    pub fn events(&self, from: u64, run: Option<&str>, limit: usize) -> Result<Vec<EventRow>> {
        self.reader()?.events(from, run, limit)
    }

    /// The texts of an event.
    pub fn texts(&self, seq: u64) -> Result<Vec<TextRow>> {
        self.reader()?.texts(seq, seq.saturating_add(1))
    }

    /// The sequence number of an event by its id.
    pub fn find(&self, id: &str) -> Result<Option<u64>> {
        self.reader()?.find(id)
    }

    /// The last `limit` events that changed an entity which is there, oldest first.
    pub fn history(&self, key: &Key, limit: usize) -> Result<Vec<u64>> {
        let mut reader = self.reader()?;
        let found = entity(reader.get(&[RowKey::Entity(key.clone())])?.pop().flatten());
        let (mut seq, mut past) = (found.map_or(0, |it| it.seq), Vec::new());
        while seq > 0 && past.len() < limit {
            past.push(seq);
            seq = match reader.get(&[RowKey::Touch(seq, key.clone())])?.pop().flatten() {
                // What is not earlier was never written, and would lead around for ever.
                Some(RowValue::Touch(before)) if before < seq => before,
                _ => 0,
            };
        }
        past.reverse();
        Ok(past)
    }

    /// Waits until there are events after `seq` or the time is over, and gives the end of the log.
    pub fn wait(&self, seq: u64, patience: Duration) -> Result<Head> {
        self.reader()?.wait(seq, patience)
    }

    /// Refuses a ledger that is closed, because it has moved or is being filled. Who serves one for long asks before each answer:
    /// what is in a ledger that has moved is how things stood once.
    pub fn must_be_open(&self) -> Result<()> {
        match self.reader()?.get(&[meta(META_CLOSED)])?.pop().flatten() {
            Some(RowValue::Meta(why)) => Err(Error::Closed(why)),
            _ => Ok(()),
        }
    }

    /// When the next lease lapses, in milliseconds since 1970, unless it is given a sign of life before.
    pub fn next_due(&self) -> Result<Option<i64>> {
        let from = RowKey::Due(crate::Time(i64::MIN), Name::default());
        let rows = self.reader()?.range(&from, None, 1)?;
        Ok(rows.into_iter().find_map(crate::transaction::due_time).map(|time| time.0))
    }

    /// A handle on the store of its own, for what works through all of it.
    pub fn store(&self) -> Result<Box<dyn Store>> {
        lock(&self.origin).another()
    }

    /// How many rows a table has, counted page by page.
    pub fn count(&self, table: Table) -> Result<u64> {
        let mut reader = self.reader()?;
        let mut count = 0;
        crate::pages::rows(&mut *reader, table, &mut |_| {
            count += 1;
            Ok(())
        })?;
        Ok(count)
    }
}

fn closed() -> Error {
    Error::NotWritten("the ledger is closed".to_owned())
}

/// The queue as long as somebody serves it; who waits is told when that ends, however it does.
struct Served(Arc<Queue>);

impl Drop for Served {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        const PAUSE: Duration = Duration::from_micros(50);
        self.queue.close();
        let Some(thread) = lock(&self.thread).take() else { return };
        // What was taken up is brought to its end. A writer that only stands in line has nothing: all who asked have given
        // up, and whoever is in its place may stand there for ever. It finds that out by itself.
        while !thread.is_finished() && !self.in_line.load(Ordering::SeqCst) {
            std::thread::park_timeout(PAUSE);
        }
        if thread.is_finished() {
            // One that broke has nothing left to say.
            let _ = thread.join();
        }
    }
}

/// A log that says nothing of whose it is was not left so by us. To begin a project in it would make it another's.
fn nameless(events: u64) -> Error {
    Error::Damaged(format!("its log has {events} events, and no project is named; put a backup in its place"))
}

/// Whether a project's id can be used.
pub(crate) fn named(project: &str) -> Result<()> {
    let fault = crate::event::project_fault(project);
    fault.map_or(Ok(()), |why| Err(Error::Malformed(format!("this is no id of a project: {why}"))))
}

/// A store to read from, borrowed from the ledger.
pub struct Reader<'a> {
    pool: &'a Mutex<Vec<Box<dyn Store>>>,
    store: Option<Box<dyn Store>>,
}

impl Deref for Reader<'_> {
    type Target = dyn Store;

    #[expect(clippy::expect_used, reason = "the store is there until the reader is dropped")]
    fn deref(&self) -> &Self::Target {
        &**self.store.as_ref().expect("a reader has its store until it is dropped")
    }
}

impl DerefMut for Reader<'_> {
    #[expect(clippy::expect_used, reason = "the store is there until the reader is dropped")]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut **self.store.as_mut().expect("a reader has its store until it is dropped")
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        // As many as a server works on at once: opening one costs more than most questions.
        const POOLED_MAX: usize = 64;
        let mut pool = lock(self.pool);
        if let Some(mut store) = self.store.take().filter(|_| pool.len() < POOLED_MAX) {
            store.rest();
            pool.push(store);
        }
    }
}

/// A lock that a panic elsewhere does not close: what it guards is whole between any two statements.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
