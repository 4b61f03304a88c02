//! The one place of a process that writes: it takes the commands that wait together into one commit.
//!
//! ```text
//! take the writer's place ─▶ who waits? ─▶ read ahead ─▶ command ─▶ command ─▶ … ─▶ commit ─▶ answer all ─▶ settle
//! ```
//!
//! Where only one command is about, its own thread does all that, and is spared two changes of thread. Where many are, they
//! are taken in a relay (see there) as long as they come: the scribe writes what some came to while the others are decided.
//!
//! **Invariant:** nobody is answered before the commit has returned, not even who was refused: a refusal may rest on a write
//! that shares the commit.

use crate::deciding::{Decided, Deciding, Known, PART, said};
use crate::ending::line_up;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::overlay::{Earlier, Overlay};
use crate::queue::{Job, Queue, Work};
use crate::rows::RowKey;
use crate::scribe::{Scribe, gone};
use crate::store::{Begun, Head, Store};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many commands share a commit at most; in a relay, half as many.
const COMMANDS_MAX: usize = 128;
/// How many of those that are likely to come are waited for before they are decided.
const AT_ONCE: usize = 16;
/// How many must be likely to come for the scribe to be called.
const CROWD: usize = 2 * AT_ONCE;
/// How long commands are taken into a commit at most.
const TAKING_MAX: Duration = Duration::from_millis(5);
/// How long one goes without a handle to read from that could not be had.
const NO_READER: Duration = Duration::from_secs(10);
/// How long to wait for one more command when more were there a moment ago.
const LINGER: Duration = Duration::from_micros(300);

pub(crate) struct Writer {
    pub(crate) store: Box<dyn Store>,
    /// To read from while the scribe has the other.
    pub(crate) reader: Option<Box<dyn Store>>,
    /// Until when none is looked for, because none was to be had.
    pub(crate) no_reader_until: Option<Instant>,
    pub(crate) scribe: Option<Scribe>,
    pub(crate) fold: Arc<dyn Fold>,
    pub(crate) project: String,
    pub(crate) queue: Arc<Queue>,
    /// What is known at the end of the log, as long as nobody else has written.
    pub(crate) known: Option<(Head, Known)>,
    /// How many commands were about in the last round.
    pub(crate) about: Arc<AtomicUsize>,
    /// Whether the writer stands in line, and has nothing in its hands.
    pub(crate) in_line: Arc<AtomicBool>,
}

impl Writer {
    /// Takes one command and those that wait with it to their end. If that breaks, the tickets of those who wait tell them.
    pub(crate) fn round(&mut self, first: Job) {
        let _ = self.unbroken(|writer| writer.take_round(first));
    }

    /// Does something that must not break, and says so if it does. What was begun ends there, whoever waits for the place gets
    /// it, and what comes next begins anew.
    fn unbroken<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Result<T> {
        catch_unwind(AssertUnwindSafe(|| work(self))).map_err(|panic| {
            self.known = None;
            self.in_line.store(false, Ordering::SeqCst);
            let _ = self.take_back();
            let _ = catch_unwind(AssertUnwindSafe(|| self.store.rollback()));
            Error::Unknown(format!("the writer broke off: {}", said(&*panic)))
        })
    }

    fn take_round(&mut self, first: Job) {
        self.find_reader();
        let begun = match self.begin() {
            Ok(begun) => begun,
            Err(error) => {
                if first.ticket.take() {
                    first.ticket.answer(Err(error));
                }
                return;
            }
        };
        if self.call_the_scribe() {
            return self.relay(first, begun);
        }
        let Decided { ending, parts, known } = self.gather_and_decide(first, &begun);
        // Who waits now is beside those who share the commit; once these are answered, they may be among those who wait.
        self.about.store(ending.answers.len() + self.queue.waiting(), Ordering::SeqCst);
        let (after, batch) = (ending.after, Arc::clone(&ending.batch));
        let outcome = ending.carry_out(&mut *self.store, &self.in_line, None);
        self.known = outcome.is_ok().then(|| (after, known.following(parts, batch)));
    }

    /// Does one command in its caller's thread, if the writer's place is free. Otherwise the command is given back.
    pub(crate) fn alone(&mut self, work: Work) -> std::result::Result<Result<()>, Work> {
        self.unbroken(|writer| writer.do_alone(work)).unwrap_or_else(|broken| Ok(Err(broken)))
    }

    fn do_alone(&mut self, work: Work) -> std::result::Result<Result<()>, Work> {
        let begun = match self.store.begin_now() {
            Ok(Some(begun)) => begun,
            Ok(None) => return Err(work),
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = may_write(&begun, &self.project, self.fold.shape()) {
            self.store.rollback();
            return Ok(Err(error));
        }
        let (mut deciding, _) = self.deciding(&begun, None);
        let done = deciding.perform(work);
        let Decided { ending, parts, known } = deciding.close();
        let (after, batch) = (ending.after, Arc::clone(&ending.batch));
        let outcome = ending.carry_out(&mut *self.store, &self.in_line, None);
        self.known = outcome.is_ok().then(|| (after, known.following(parts, batch)));
        Ok(outcome.and(done))
    }

    /// Begins a transaction and makes sure that this binary may write here.
    fn begin(&mut self) -> Result<Begun> {
        let begun = line_up(&mut *self.store, &self.in_line)?;
        let may = may_write(&begun, &self.project, self.fold.shape());
        may.inspect_err(|_| self.store.rollback()).map(|()| begun)
    }

    /// Finds a handle to read from beside the scribe, before anybody waits for it, where many commands are likely to come. Without one
    /// there is no scribe.
    fn find_reader(&mut self) {
        let is_tired = self.no_reader_until.is_some_and(|until| Instant::now() < until);
        if self.about.load(Ordering::SeqCst) < CROWD || !self.store.writes_beside() || is_tired {
            return;
        }
        let reader = self.reader.take().map_or_else(|| self.store.another(), Ok);
        let ready = reader.and_then(|mut reader| reader.make_ready().map(|()| reader));
        self.no_reader_until = ready.is_err().then(|| Instant::now() + NO_READER);
        self.reader = ready.ok();
    }

    /// Has the scribe write, where many commands are likely to come. Until it is done, the other handle is read from.
    fn call_the_scribe(&mut self) -> bool {
        if self.about.load(Ordering::SeqCst) < CROWD || !self.store.writes_beside() {
            return false;
        }
        let reader = self.reader.take();
        self.scribe = self.scribe.take().or_else(|| Scribe::start(Arc::clone(&self.queue)));
        let (Some(mut reader), Some(scribe)) = (reader, &mut self.scribe) else { return false };
        // What broke while it was read from may have left it where it was.
        reader.rollback();
        let store = std::mem::replace(&mut self.store, reader);
        if let Err(store) = scribe.take(store) {
            self.reader = Some(std::mem::replace(&mut self.store, store));
            self.scribe = None;
            return false;
        }
        true
    }

    /// Waits until the scribe has written what it was given, and takes the store back.
    fn take_back(&mut self) -> Result<()> {
        let Some(scribe) = self.scribe.as_mut().filter(|it| it.is_busy) else { return Ok(()) };
        let Some((store, outcome)) = scribe.give_back() else {
            // Its handle is gone with it, and what was begun. The other one goes on in its place.
            self.scribe = None;
            return Err(gone());
        };
        self.reader = Some(std::mem::replace(&mut self.store, store));
        outcome
    }

    /// Decides the commands that share this commit: those that wait, and those that are likely to come at once. The first are
    /// decided while the others are on their way, but where each question is a journey, they are asked about together.
    fn gather_and_decide(&mut self, first: Job, begun: &Begun) -> Decided {
        let likely = self.about.load(Ordering::SeqCst).clamp(1, COMMANDS_MAX);
        let at_once = if self.store.is_far() { COMMANDS_MAX } else { AT_ONCE };
        let queue = Arc::clone(&self.queue);
        let (mut deciding, _) = self.deciding(begun, None);
        gather(&queue, &mut deciding, None, vec![first], (likely, COMMANDS_MAX), at_once);
        deciding.close()
    }

    /// Where commands are decided from what a transaction begins with, and from what is known there.
    fn deciding(&mut self, begun: &Begun, earlier: Option<Earlier>) -> (Deciding<'_>, Option<&Scribe>) {
        let known = self.known.take().filter(|(head, _)| *head == begun.head).map(|(_, known)| known);
        let Known { hot, edge } = known.unwrap_or_default();
        let deciding = Deciding {
            store: &mut *self.store,
            fold: &*self.fold,
            project: &self.project,
            now: begun.now,
            before: begun.head,
            after: begun.head,
            overlay: Overlay::knowing(hot, earlier),
            edge,
            answers: Vec::new(),
        };
        (deciding, self.scribe.as_ref().filter(|it| it.is_busy))
    }
}

/// Decides some commands and those that come, until there are as many as are likely to, or no more come; and so many at most.
fn gather(
    queue: &Queue,
    deciding: &mut Deciding<'_>,
    scribe: Option<&Scribe>,
    first: Vec<Job>,
    (likely, most): (usize, usize),
    at_once: usize,
) {
    let until = Instant::now() + TAKING_MAX;
    let mut jobs = VecDeque::from(first);
    loop {
        let had = deciding.answers.len() + jobs.len();
        let wanted = likely.saturating_sub(had).min(at_once.saturating_sub(jobs.len()));
        let more = queue.more(wanted, most.saturating_sub(had), LINGER, until);
        let came = !more.is_empty();
        jobs.extend(more);
        let now = jobs.drain(..jobs.len().min(at_once)).collect::<Vec<_>>();
        deciding.some(taken_up(now), scribe, PART);
        if jobs.is_empty() && (deciding.answers.len() >= likely || !came) {
            return;
        }
    }
}

/// Those of some commands whose callers have not given up.
fn taken_up(jobs: Vec<Job>) -> Vec<Job> {
    jobs.into_iter().filter(|job| job.ticket.take()).collect()
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
    RowKey::Meta(name.into())
}

mod relay;

#[cfg(test)]
mod breaking;
#[cfg(test)]
mod tests;
