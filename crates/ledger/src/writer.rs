//! The one place of a process that writes: it takes the commands that wait together into one commit.
//!
//! ```text
//! take the writer's place ─▶ who waits? ─▶ read ahead ─▶ command ─▶ command ─▶ … ─▶ commit ─▶ answer all ─▶ settle, remember
//! ```
//!
//! Where only one command is about, its own thread does all that, and is spared two changes of thread.
//!
//! **Invariant:** nobody is answered before the commit has returned, not even who was refused: a refusal may rest on a write
//! that shares the commit.

use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::hot::Hot;
use crate::overlay::Overlay;
use crate::queue::{Job, Queue, Work};
use crate::rows::RowKey;
use crate::store::{Batch, Begun, Head, Store};
use crate::transaction::Transaction;
use crate::tree::{Edge, TILE_HASHES, leaf};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many commands share a commit at most.
const COMMANDS_MAX: usize = 64;
/// How long commands are taken into a commit at most.
const TAKING_MAX: Duration = Duration::from_millis(5);
/// How long to wait for one more command when more were there a moment ago.
const LINGER: Duration = Duration::from_micros(300);
/// How long the outcome of a commit is looked for before it is called unknown.
const RESOLVING_MAX: Duration = Duration::from_secs(20);
const RESOLVING_PAUSE: Duration = Duration::from_millis(100);

pub(crate) struct Writer {
    pub(crate) store: Box<dyn Store>,
    pub(crate) fold: Arc<dyn Fold>,
    pub(crate) project: String,
    pub(crate) queue: Arc<Queue>,
    /// Where the tree stands, as long as nobody else has written.
    pub(crate) edge: Option<(Head, Edge)>,
    /// What need not be read, as long as nobody else has written.
    pub(crate) hot: Hot,
    /// How many commands were about in the last round.
    pub(crate) about: Arc<AtomicUsize>,
    /// Whether the writer stands in line, and has nothing in its hands.
    pub(crate) in_line: Arc<AtomicBool>,
}

/// What is known after a commit, and was not worth keeping its callers waiting for.
struct Rest {
    batch: Batch,
    hot: Hot,
    edge: Option<Edge>,
    head: Head,
}

impl Default for Rest {
    /// Nothing is known.
    fn default() -> Self {
        Self { batch: Batch::default(), hot: Hot::default(), edge: None, head: Head::EMPTY }
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
        let taken = jobs.len();
        self.together(jobs, &begun);
        self.about.store(taken + self.queue.waiting(), Ordering::SeqCst);
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
        let (mut head, mut overlay) = (begun.head, self.overlay(&begun));
        let done = self.perform(work, &begun, &mut overlay, &mut head);
        let (outcome, rest) = self.finish(begun.head, head, overlay);
        self.store.settle();
        self.remember(rest);
        Ok(outcome.and(done))
    }

    /// Nothing changed yet, over what is known.
    fn overlay(&mut self, begun: &Begun) -> Overlay {
        Overlay::knowing(std::mem::take(&mut self.hot).at(begun.head))
    }

    /// Does some commands in one commit and answers each.
    fn together(&mut self, mut jobs: Vec<Job>, begun: &Begun) {
        let (mut head, mut overlay) = (begun.head, self.overlay(begun));
        let looks_at = jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.looks_at)).collect();
        let read = overlay.read_ahead(&mut *self.store, looks_at);
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let done = match &read {
                Ok(()) => self.perform(job.work, begun, &mut overlay, &mut head),
                Err(error) => Err(error.clone()),
            };
            answers.push((job.ticket, done));
        }
        let (outcome, rest) = self.finish(begun.head, head, overlay);
        if let Err(error) = outcome {
            answers.iter_mut().for_each(|(_, answer)| *answer = Err(error.clone()));
        }
        for (ticket, answer) in answers {
            ticket.answer(answer);
        }
        self.store.settle();
        self.remember(rest);
    }

    /// Begins a transaction and makes sure that this binary may write here.
    fn begin(&mut self) -> Result<Begun> {
        let begun = self.line_up()?;
        let may = may_write(&begun, &self.project, self.fold.shape());
        may.inspect_err(|_| self.store.rollback()).map(|()| begun)
    }

    /// Waits for the writer's place, however long that takes.
    fn line_up(&mut self) -> Result<Begun> {
        self.in_line.store(true, Ordering::SeqCst);
        let begun = self.store.begin();
        self.in_line.store(false, Ordering::SeqCst);
        begun
    }

    /// The commands that share this commit: those that wait, and those that are likely to come at once.
    fn gather(&mut self, first: Job) -> Vec<Job> {
        let likely = self.about.load(Ordering::SeqCst).saturating_sub(1);
        let more = self.queue.more(likely, COMMANDS_MAX - 1, LINGER, Instant::now() + TAKING_MAX);
        std::iter::once(first).chain(more).filter(|job| job.ticket.take()).collect()
    }

    /// Runs one command. One that fails leaves no trace in the overlay.
    fn perform(&mut self, work: Work, begun: &Begun, overlay: &mut Overlay, head: &mut Head) -> Result<()> {
        let (mark, head_before) = (overlay.mark(), *head);
        let mut transaction = Transaction {
            store: &mut *self.store,
            fold: &*self.fold,
            project: &self.project,
            overlay,
            head,
            now: begun.now,
            live: true,
            healed: Vec::new(),
        };
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut transaction)));
        let done = done.unwrap_or_else(|panic| Err(Error::Broke(said(&*panic))));
        if done.is_err() {
            transaction.overlay.take_back(mark);
            *transaction.head = head_before;
            // That a lease lives from now on, because the clock has gone back, holds for whoever is refused as well: else
            // it would live from now on whenever somebody asks, and never lapse.
            for name in std::mem::take(&mut transaction.healed) {
                let _ = transaction.lease(&name);
            }
        }
        done
    }

    /// Writes what came together and ends the transaction. What else follows from it need keep nobody waiting.
    fn finish(&mut self, before: Head, after: Head, mut overlay: Overlay) -> (Result<()>, Rest) {
        let hot = overlay.take_hot();
        let edge = match self.grow(before, after, &mut overlay) {
            Ok(edge) => edge,
            Err(error) => {
                self.store.rollback();
                return (Err(error), Rest::default());
            }
        };
        if !overlay.erase.is_empty() {
            let (key, value) = crate::erasure::set(after);
            overlay.put(key, value);
        }
        let batch = overlay.into_batch();
        if batch.is_empty() {
            self.store.rollback();
            return (Ok(()), Rest { batch, hot, edge, head: before });
        }
        let outcome = match self.store.apply_and_commit(&batch) {
            Err(Error::Unknown(why)) if after != before => self.resolve(after, why),
            outcome => outcome,
        };
        let rest = if outcome.is_ok() { Rest { batch, hot, edge, head: after } } else { Rest::default() };
        (outcome, rest)
    }

    /// The tree, if it is known or needed. It is needed once a tile is whole, and the tiles that change then go into the
    /// overlay; otherwise the new leaves are left for later.
    fn grow(&mut self, before: Head, after: Head, overlay: &mut Overlay) -> Result<Option<Edge>> {
        let known = self.edge.take().filter(|(head, _)| *head == before).map(|(_, edge)| edge);
        if before.seq / TILE_HASHES == after.seq / TILE_HASHES {
            return Ok(known);
        }
        let mut edge = match known {
            Some(edge) => edge,
            None => Edge::load(&mut *self.store, before.seq)?,
        };
        let leaves: Vec<_> = overlay.events.iter().map(|event| leaf(&event.body)).collect();
        for leaf in leaves {
            edge.add(leaf, |key, value| overlay.put(key, value));
        }
        Ok(Some(edge))
    }

    /// Keeps what is known after a commit for the next one.
    fn remember(&mut self, rest: Rest) {
        let Rest { batch, mut hot, edge, head } = rest;
        self.edge = edge.map(|mut edge| {
            let size = edge.size();
            for event in batch.events.iter().filter(|event| event.seq > size) {
                // No tile becomes whole by it, or it would be there already.
                edge.add(leaf(&event.body), |_, _| {});
            }
            (head, edge)
        });
        hot.follow(batch, head);
        self.hot = hot;
    }

    /// Finds out what became of a commit that gave no clear answer: the last event is there with its hash, or it is not.
    fn resolve(&mut self, after: Head, why: String) -> Result<()> {
        let started = Instant::now();
        loop {
            match self.look(after) {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(Error::NotWritten(why)),
                Err(_) if started.elapsed() < RESOLVING_MAX => std::thread::sleep(RESOLVING_PAUSE),
                Err(_) => return Err(Error::Unknown(why)),
            }
        }
    }

    fn look(&mut self, after: Head) -> Result<bool> {
        // In the writer's place: whatever was still under way has ended when we have it.
        self.line_up()?;
        let found = self.store.events(after.seq, None, 1);
        self.store.rollback();
        Ok(found?.first().is_some_and(|event| event.hash == after.hash))
    }
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

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "an internal error".to_owned())
}
