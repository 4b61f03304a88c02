//! What commands come to, before it is written.
//!
//! **Invariant:** a command sees what the commands before it have done, whether that is in the store, in a commit that is
//! under way or in its own, and nothing else.

use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::hot::Hot;
use crate::overlay::Overlay;
use crate::queue::{Job, Ticket, Work, answer_all};
use crate::store::{Batch, Head, Store};
use crate::time::Time;
use crate::transaction::Transaction;
use crate::tree::{Edge, TILE_HASHES, leaf};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The first of commands that are decided in parts are one of so many: to decide takes a fraction of what it takes a server
/// to write, so that it is busy with these until the others are decided.
const FIRST_PART: usize = 4;

/// Where commands are decided.
pub(crate) struct Deciding<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) fold: &'a dyn Fold,
    pub(crate) project: &'a str,
    pub(crate) now: Time,
}

/// What is known of a ledger without asking its store, as long as nobody else has written.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) hot: Hot,
    /// Where the tree stands.
    pub(crate) edge: Option<Edge>,
}

/// Commands that share a commit: what there is to write, and how each of them came out.
pub(crate) struct Decided {
    pub(crate) before: Head,
    pub(crate) after: Head,
    pub(crate) batch: Arc<Batch>,
    /// What comes before the batch and is on its way already.
    pub(crate) sent: Option<Arc<Batch>>,
    pub(crate) answers: Vec<Answer>,
    /// Why none of it can be written.
    pub(crate) fault: Option<Error>,
    pub(crate) known: Known,
}

/// Who waits, and for what.
pub(crate) type Answer = (Ticket, Result<()>);

impl Deciding<'_> {
    /// Decides some commands, after one another.
    pub(crate) fn all(mut self, mut jobs: Vec<Job>, before: Head, mut overlay: Overlay, edge: Option<Edge>) -> Decided {
        let read = self.read_ahead(&mut jobs, &mut overlay);
        let mut after = before;
        let answers = self.some(jobs, &read, &mut overlay, &mut after);
        Decided { answers, ..self.close(before, after, overlay, edge) }
    }

    /// The same, where the store writes what the first of them come to while the others are decided.
    pub(crate) fn in_parts(
        mut self,
        mut jobs: Vec<Job>,
        before: Head,
        mut overlay: Overlay,
        edge: Option<Edge>,
    ) -> Decided {
        let read = self.read_ahead(&mut jobs, &mut overlay);
        let others = jobs.split_off(jobs.len() / FIRST_PART);
        let mut after = before;
        let mut answers = self.some(jobs, &read, &mut overlay, &mut after);
        let ahead = overlay.take_ahead();
        let mut first = self.close(before, after, overlay, edge);
        let sent = match first.fault.take() {
            None if first.batch.is_empty() => Ok(()),
            None => self.store.apply_soon(&first.batch),
            Some(fault) => Err(fault),
        };
        if let Err(fault) = sent {
            answers.extend(others.into_iter().map(|job| (job.ticket, Err(fault.clone()))));
            return Decided { answers, fault: Some(fault), ..first };
        }
        first.known.catch_up(&first.batch);
        let Decided { batch, known, .. } = first;
        let overlay = Overlay::knowing(known.hot).after(&batch).having_read(ahead);
        let (between, mut overlay) = (after, overlay);
        answers.extend(self.some(others, &read, &mut overlay, &mut after));
        let rest = self.close(between, after, overlay, known.edge);
        Decided { before, answers, sent: Some(batch).filter(|batch| !batch.is_empty()), ..rest }
    }

    /// Reads what some commands will look at.
    fn read_ahead(&mut self, jobs: &mut [Job], overlay: &mut Overlay) -> Result<()> {
        let mut looks_at: Vec<_> = jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.looks_at)).collect();
        // Those of one table share a statement, and neighbours a page.
        looks_at.sort_unstable();
        looks_at.dedup();
        overlay.read_ahead(self.store, &looks_at)
    }

    /// Runs some commands; none of them, if what they look at could not be read.
    fn some(&mut self, jobs: Vec<Job>, read: &Result<()>, overlay: &mut Overlay, head: &mut Head) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let done = read.clone().and_then(|()| self.perform(job.work, overlay, head));
            answers.push((job.ticket, done));
        }
        answers
    }

    /// Decides one command, whose caller does not wait in line.
    pub(crate) fn one(
        mut self,
        work: Work,
        before: Head,
        mut overlay: Overlay,
        edge: Option<Edge>,
    ) -> (Result<()>, Decided) {
        let mut after = before;
        let done = self.perform(work, &mut overlay, &mut after);
        (done, self.close(before, after, overlay, edge))
    }

    /// Runs one command. One that fails leaves no trace in the overlay.
    fn perform(&mut self, work: Work, overlay: &mut Overlay, head: &mut Head) -> Result<()> {
        let (mark, head_before) = (overlay.mark(), *head);
        let mut transaction = Transaction {
            store: self.store,
            fold: self.fold,
            project: self.project,
            overlay,
            head,
            now: self.now,
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

    /// Everything that there is to write.
    fn close(&mut self, before: Head, after: Head, mut overlay: Overlay, edge: Option<Edge>) -> Decided {
        let hot = overlay.take_hot();
        let (edge, fault) = match grow(self.store, before, after, edge, &mut overlay) {
            Ok(edge) => (edge, None),
            Err(error) => (None, Some(error)),
        };
        if !overlay.erase.is_empty() {
            let (key, value) = crate::erasure::set(after);
            overlay.put(key, value);
        }
        let batch = Arc::new(overlay.into_batch());
        Decided { before, after, batch, sent: None, answers: Vec::new(), fault, known: Known { hot, edge } }
    }
}

/// The tree, if it is known or needed. It is needed once a tile is whole, and the tiles that change then go into the
/// overlay; otherwise the new leaves are left for later.
fn grow(
    store: &mut dyn Store,
    before: Head,
    after: Head,
    known: Option<Edge>,
    overlay: &mut Overlay,
) -> Result<Option<Edge>> {
    if before.seq / TILE_HASHES == after.seq / TILE_HASHES {
        return Ok(known);
    }
    let mut edge = match known {
        Some(edge) => edge,
        None => Edge::load(store, before.seq)?,
    };
    let leaves: Vec<_> = overlay.events.iter().map(|event| leaf(&event.body)).collect();
    for leaf in leaves {
        edge.add(leaf, |key, value| overlay.put(key, value));
    }
    Ok(Some(edge))
}

impl Decided {
    /// Whether there is nothing to write.
    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty() && self.sent.is_none()
    }

    /// What is known once it was written.
    pub(crate) fn written(mut self) -> Known {
        self.known.catch_up(&self.batch);
        for batch in self.sent.into_iter().chain([self.batch]) {
            self.known.follow(batch);
        }
        self.known
    }
}

impl Known {
    /// Adds the leaves that were left for later to the tree, if that is known.
    pub(crate) fn catch_up(&mut self, batch: &Batch) {
        let Some(edge) = &mut self.edge else { return };
        let size = edge.size();
        for event in batch.events.iter().filter(|event| event.seq > size) {
            // No tile becomes whole by it, or it would be there already.
            edge.add(leaf(&event.body), |_, _| {});
        }
    }

    /// Goes along with a commit, as far as nobody else holds on to it.
    pub(crate) fn follow(&mut self, batch: Arc<Batch>) {
        match Arc::try_unwrap(batch) {
            Ok(batch) => self.hot.follow(batch),
            Err(_) => self.hot = Hot::default(),
        }
    }
}

/// Tells everybody how it came out, which is what the commit says if it failed.
pub(crate) fn answer(mut answers: Vec<Answer>, outcome: &Result<()>) {
    if let Err(error) = outcome {
        answers.iter_mut().for_each(|(_, answer)| *answer = Err(error.clone()));
    }
    answer_all(answers);
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "an internal error".to_owned())
}
