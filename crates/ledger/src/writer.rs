//! The one place of a process that writes: it takes the commands that wait together into one commit.
//!
//! ```text
//! take the writer's place ─▶ who waits? ─▶ read ahead ─▶ command ─▶ command ─▶ … ─▶ commit ─▶ answer all ─▶ settle
//! ```
//!
//! Where only one command is about, its own thread does all that, and is spared two changes of thread. Where many are, and to
//! decide them takes about as long as to write them, the next are decided while the last are written: they see those as if
//! they were written already, and fail with them.
//! Where the store is a server, it begins to write what the first of them come to while the others are decided.
//!
//! **Invariant:** nobody is answered before the commit has returned, not even who was refused: a refusal may rest on a write
//! that shares the commit, or on the one before.

use crate::deciding::{Answer, Decided, Deciding, Known, answer};
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::overlay::Overlay;
use crate::queue::{Job, Queue, Work};
use crate::rows::RowKey;
use crate::scribe::Scribe;
use crate::store::{Batch, Begun, Head, Store};
use crate::time::Time;
use crate::tree::Edge;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many commands share a commit at most.
const COMMANDS_MAX: usize = 128;
/// How long commands are taken into a commit at most.
const TAKING_MAX: Duration = Duration::from_millis(5);
/// How long to wait for one more command when more were there a moment ago.
const LINGER: Duration = Duration::from_micros(300);
/// How many commands must be about for it to be worth while to decide some and write others.
const CROWD: usize = 16;
/// How many times as long as to decide commands it may take to write them, for some to be decided while others are written:
/// before that is begun, and while it goes on. Half of the commands share a sync then, which is a loss where syncing is most
/// of the writing.
const OVERLAPPING_FROM: u32 = 6;
const OVERLAPPING_MAX: u32 = 8;
/// How long the outcome of a commit is looked for before it is called unknown.
const RESOLVING_MAX: Duration = Duration::from_secs(20);
const RESOLVING_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Writer {
    pub(crate) store: Box<dyn Store>,
    /// To read from while the other writes.
    pub(crate) reader: Option<Box<dyn Store>>,
    pub(crate) fold: Arc<dyn Fold>,
    pub(crate) project: String,
    pub(crate) queue: Arc<Queue>,
    /// What is known at the end of the log, as long as nobody else has written.
    pub(crate) known: Option<(Head, Known)>,
    /// Who writes while others are decided, from the first time on.
    pub(crate) scribe: Option<Scribe>,
    /// How many commands were about in the last round.
    pub(crate) about: Arc<AtomicUsize>,
    /// Whether commands are decided while others are written.
    pub(crate) overlaps: bool,
    /// Whether the writer stands in line, and has nothing in its hands.
    pub(crate) in_line: Arc<AtomicBool>,
}

/// What comes next: commands that were decided, how long that took, and those before them, whose commit has returned.
type Next = (Decided, Duration, Option<Written>);

/// Commands that were written and not yet answered.
struct Written {
    answers: Vec<Answer>,
    batch: Arc<Batch>,
}

impl Written {
    /// Answers, and gives what was written.
    fn tell(self) -> Arc<Batch> {
        answer(self.answers, &Ok(()));
        self.batch
    }
}

impl Writer {
    /// Takes one command and those that wait with it to their end.
    pub(crate) fn round(&mut self, first: Job) {
        let begun = match self.begin() {
            Ok(begun) => begun,
            Err(error) => {
                if first.ticket.take() {
                    first.ticket.answer(Err(error));
                }
                return;
            }
        };
        let jobs = self.gather(first);
        let started = Instant::now();
        let mut decided = self.decide(jobs, &begun);
        let mut deciding = started.elapsed();
        let mut written = None;
        while let Some(now) = self.stay(&mut decided) {
            match self.write_and_decide(decided, now, written.take()) {
                Some(next) => (decided, deciding, written) = next,
                None => return,
            }
        }
        if let Some(written) = written {
            decided.known.follow(written.tell());
        }
        self.write(decided, deciding);
    }

    /// Does one command in its caller's thread, if the writer's place is free. Otherwise the command is given back.
    pub(crate) fn alone(&mut self, work: Work) -> std::result::Result<Result<()>, Work> {
        let begun = match self.store.begin_now() {
            Ok(Some(begun)) => begun,
            Ok(None) => return Err(work),
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = may_write(&begun, &self.project, self.fold.shape()) {
            self.store.rollback();
            return Ok(Err(error));
        }
        let (overlay, edge) = self.known_at(begun.head);
        let (done, decided) = self.deciding(begun.now).one(work, begun.head, overlay, edge);
        let outcome = write(&mut *self.store, &self.in_line, &decided);
        self.store.settle();
        self.remember(&outcome, decided);
        Ok(outcome.and(done))
    }

    /// Begins a transaction and makes sure that this binary may write here.
    fn begin(&mut self) -> Result<Begun> {
        let begun = line_up(&mut *self.store, &self.in_line)?;
        let may = may_write(&begun, &self.project, self.fold.shape());
        may.inspect_err(|_| self.store.rollback()).map(|()| begun)
    }

    /// The commands that share this commit: those that wait, and those that are likely to come at once. Where others are to
    /// be decided meanwhile, half of them are left for that.
    fn gather(&mut self, first: Job) -> Vec<Job> {
        let about = self.about.load(Ordering::SeqCst);
        let share = if self.overlaps { about.div_ceil(2) } else { COMMANDS_MAX };
        let most = share.clamp(1, COMMANDS_MAX) - 1;
        let more = self.queue.more(about.saturating_sub(1), most, LINGER, Instant::now() + TAKING_MAX);
        std::iter::once(first).chain(more).filter(|job| job.ticket.take()).collect()
    }

    fn deciding(&mut self, now: Time) -> Deciding<'_> {
        Deciding { store: &mut *self.store, fold: &*self.fold, project: &self.project, now }
    }

    /// What is known where the log ends here.
    fn known_at(&mut self, head: Head) -> (Overlay, Option<Edge>) {
        let known = self.known.take().filter(|(known, _)| *known == head).map(|(_, known)| known);
        let Known { hot, edge } = known.unwrap_or_default();
        (Overlay::knowing(hot), edge)
    }

    fn decide(&mut self, jobs: Vec<Job>, begun: &Begun) -> Decided {
        let (overlay, edge) = self.known_at(begun.head);
        if jobs.len() >= CROWD && self.store.hurries() {
            return self.deciding(begun.now).in_parts(jobs, begun.head, overlay, edge);
        }
        self.deciding(begun.now).all(jobs, begun.head, overlay, edge)
    }

    /// Whether the next commands are decided while these are written; then it gives the store's clock, and nobody comes
    /// between the two commits.
    fn stay(&mut self, decided: &mut Decided) -> Option<Time> {
        if !self.overlaps || decided.fault.is_some() || decided.batch.is_empty() {
            return None;
        }
        if self.reader.is_none() {
            self.reader = self.store.another().ok();
        }
        self.reader.as_ref()?;
        // The next ones cannot look at events that are being written, and may need the tree.
        if decided.known.edge.is_none() {
            decided.known.edge = Some(Edge::load(&mut *self.store, decided.before.seq).ok()?);
        }
        self.store.stay()
    }

    /// Writes what was decided, while those are answered whose commit came before, and those who wait are decided. Gives what
    /// came of these, how long it took, and who is to be answered next; nothing, if what they rest on was not written.
    ///
    /// What is written next waits for nothing but this commit, so whatever can be done beside it is done beside it.
    fn write_and_decide(&mut self, mut decided: Decided, now: Time, before: Option<Written>) -> Option<Next> {
        let taken = decided.answers.len();
        let (answers, mut known) = (std::mem::take(&mut decided.answers), std::mem::take(&mut decided.known));
        let likely = self.about.load(Ordering::SeqCst).saturating_sub(taken);
        let under_way = self.hand_over(&decided);
        if let Some(before) = before {
            known.follow(before.tell());
        }
        if let Err(error) = under_way {
            answer(answers, &Err(error));
            self.overlaps = false;
            return None;
        }
        known.catch_up(&decided.batch);
        let jobs = self.queue.more(likely, COMMANDS_MAX, LINGER, Instant::now() + TAKING_MAX);
        let jobs = jobs.into_iter().filter(|job| job.ticket.take()).collect();
        let started = Instant::now();
        let overlay = Overlay::knowing(known.hot).after(&decided.batch);
        let next = self.deciding(now).all(jobs, decided.after, overlay, known.edge);
        let deciding = started.elapsed();
        let (outcome, writing) = self.take_back();
        if let Err(error) = outcome {
            let why = format!("what it rests on was not written: {error}");
            answer(answers, &Err(error));
            answer(next.answers, &Err(Error::NotWritten(why)));
            self.store.rollback();
            return None;
        }
        self.about.store(taken + next.answers.len(), Ordering::SeqCst);
        self.overlaps = OVERLAPPING_MAX * deciding > writing;
        Some((next, deciding, Some(Written { answers, batch: decided.batch })))
    }

    /// Has what was decided written by the scribe, who gets the handle on the store for it. Until that is taken back, the
    /// other one is read from in its place.
    fn hand_over(&mut self, decided: &Decided) -> Result<()> {
        let unwritten = |why: &str| Error::NotWritten(format!("nobody is there to write it: {why}"));
        if self.scribe.is_none() {
            self.scribe = Scribe::start(&self.in_line);
        }
        let (Some(scribe), Some(reader)) = (&self.scribe, self.reader.take()) else {
            self.store.rollback();
            return Err(unwritten("no thread can be had"));
        };
        let store = std::mem::replace(&mut self.store, reader);
        let Err(store) = scribe.hand_over(store, decided) else { return Ok(()) };
        // What was begun ends with the handle.
        self.reader = Some(std::mem::replace(&mut self.store, store));
        self.store.rollback();
        self.scribe = None;
        Err(unwritten("its thread has ended"))
    }

    /// Waits until the scribe is done, and says what came of it and how long it took.
    fn take_back(&mut self) -> (Result<()>, Duration) {
        match self.scribe.as_ref().and_then(Scribe::take_back) {
            Some((store, outcome, took)) => {
                self.reader = Some(std::mem::replace(&mut self.store, store));
                (outcome, took)
            }
            None => {
                // It broke, and its handle with it. The other one goes on in its place.
                self.scribe = None;
                (Err(Error::Unknown("the commit broke off".to_owned())), Duration::ZERO)
            }
        }
    }

    /// Writes what was decided and answers.
    fn write(&mut self, mut decided: Decided, deciding: Duration) {
        let started = Instant::now();
        let outcome = write(&mut *self.store, &self.in_line, &decided);
        let writing = started.elapsed();
        let taken = decided.answers.len();
        answer(std::mem::take(&mut decided.answers), &outcome);
        self.store.settle();
        self.remember(&outcome, decided);
        self.about.store(taken + self.queue.waiting(), Ordering::SeqCst);
        self.overlaps = taken >= CROWD && OVERLAPPING_FROM * deciding > writing && self.store.stays();
    }

    /// Keeps what is known after a commit for the next one.
    fn remember(&mut self, outcome: &Result<()>, decided: Decided) {
        self.known = outcome.is_ok().then(|| (decided.after, decided.written()));
    }
}

/// Writes what was decided into the transaction and ends it.
fn write(store: &mut dyn Store, in_line: &AtomicBool, decided: &Decided) -> Result<()> {
    if decided.fault.is_some() || decided.is_empty() {
        store.rollback();
        return decided.fault.clone().map_or(Ok(()), Err);
    }
    commit(store, in_line, &decided.batch, (decided.before, decided.after))
}

/// Writes a batch that leads from one end of the log to another, and commits.
pub(crate) fn commit(
    store: &mut dyn Store,
    in_line: &AtomicBool,
    batch: &Batch,
    (before, after): (Head, Head),
) -> Result<()> {
    match store.apply_and_commit(batch) {
        Err(Error::Unknown(why)) if after != before => resolve(store, in_line, after, why),
        outcome => outcome,
    }
}

/// Waits for the writer's place, however long that takes.
fn line_up(store: &mut dyn Store, in_line: &AtomicBool) -> Result<Begun> {
    in_line.store(true, Ordering::SeqCst);
    let begun = store.begin();
    in_line.store(false, Ordering::SeqCst);
    begun
}

/// Finds out what became of a commit that gave no clear answer: the last event is there with its hash, or it is not.
fn resolve(store: &mut dyn Store, in_line: &AtomicBool, after: Head, why: String) -> Result<()> {
    let started = Instant::now();
    loop {
        match look(store, in_line, after) {
            Ok(true) => return Ok(()),
            Ok(false) => return Err(Error::NotWritten(why)),
            Err(_) if started.elapsed() < RESOLVING_MAX => std::thread::sleep(RESOLVING_PAUSE),
            Err(_) => return Err(Error::Unknown(why)),
        }
    }
}

fn look(store: &mut dyn Store, in_line: &AtomicBool, after: Head) -> Result<bool> {
    // In the writer's place: whatever was still under way has ended when we have it.
    line_up(store, in_line)?;
    let found = store.events(after.seq, None, 1);
    store.rollback();
    Ok(found?.first().is_some_and(|event| event.hash == after.hash))
}

/// Whether this binary, for this project, may write to a ledger.
pub(crate) fn may_write(begun: &Begun, project: &str, shape: u32) -> Result<()> {
    if let Some(why) = begun.meta(META_CLOSED) {
        return Err(Error::Closed(why.to_owned()));
    }
    match begun.meta(META_PROJECT) {
        Some(found) if found == project => {}
        Some(found) => return Err(Error::Closed(format!("this ledger is of project {found}, and not of {project}"))),
        None => return Err(Error::Closed("this ledger has no project yet; run `countersign init`".to_owned())),
    }
    let found = begun.meta(META_SHAPE).and_then(|it| it.parse().ok()).unwrap_or(0);
    match found {
        found if found > shape => Err(Error::Newer { what: "shape", found, known: shape }),
        found if found < shape => Err(Error::Older { found, known: shape }),
        _ => Ok(()),
    }
}

/// The project's id.
pub(crate) const META_PROJECT: &str = "project";
/// The shape of the derived rows.
pub(crate) const META_SHAPE: &str = "shape";
/// Why nothing may be written: the ledger is being filled, or has moved.
pub(crate) const META_CLOSED: &str = "closed";

pub(crate) fn meta(name: &str) -> RowKey {
    RowKey::Meta(name.to_owned())
}

#[cfg(all(test, unix))]
mod parts;
#[cfg(test)]
mod tests;
