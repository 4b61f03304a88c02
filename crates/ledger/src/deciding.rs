//! What commands come to, before it is written.
//!
//! **Invariant:** a command sees what the commands before it have done, whether that is in the store or shares its commit,
//! and nothing else.

use crate::ending::Ending;
use crate::error::{Error, Result};
use crate::fold::Fold;
use crate::hot::Hot;
use crate::overlay::{Earlier, Overlay};
use crate::queue::{Job, Work};
use crate::scribe::Scribe;
use crate::seat::Ticket;
use crate::store::{Batch, Head, Store};
use crate::time::Time;
use crate::transaction::Transaction;
use crate::tree::{Edge, TILE_HASHES, leaf};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// How many commands' outcome is written at a time, where it is written beside the deciding and somebody waits for it.
pub(crate) const PART: usize = 4;

/// Where commands are decided, one after the other, from one end of the log to another.
pub(crate) struct Deciding<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) fold: &'a dyn Fold,
    pub(crate) project: &'a str,
    pub(crate) now: Time,
    pub(crate) before: Head,
    pub(crate) after: Head,
    pub(crate) overlay: Overlay,
    pub(crate) edge: Option<Edge>,
    pub(crate) answers: Vec<Answer>,
}

/// What is known of a ledger without asking its store, as long as nobody else has written.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) hot: Hot,
    /// Where the tree stands.
    pub(crate) edge: Option<Edge>,
}

/// What commands that share a commit have come to.
pub(crate) struct Decided {
    /// What is left to do for them.
    pub(crate) ending: Ending,
    /// What was given out to be written beside the deciding.
    pub(crate) parts: Vec<Arc<Batch>>,
    /// What was known before.
    pub(crate) known: Known,
}

/// Who waits, and for what.
pub(crate) type Answer = (Ticket, Result<()>);

impl Deciding<'_> {
    /// Decides some commands, after one another. What they come to is written beside that, if there is a scribe: when so many
    /// of them are decided.
    pub(crate) fn some(&mut self, mut jobs: Vec<Job>, scribe: Option<&Scribe>, at_once: usize) {
        self.overlay.make_room(jobs.len());
        let read = self.read_ahead(&mut jobs);
        for (job, nth) in jobs.into_iter().zip(1..) {
            // None of them, if what they look at could not be read.
            let done = read.clone().and_then(|()| self.perform(job.work));
            self.answers.push((job.ticket, done));
            if let Some(scribe) = scribe.filter(|_| nth % at_once == 0) {
                scribe.write(self.overlay.part());
            }
        }
    }

    /// Reads what some commands will look at.
    fn read_ahead(&mut self, jobs: &mut [Job]) -> Result<()> {
        let mut looks_at: Vec<_> = jobs.iter_mut().flat_map(|job| std::mem::take(&mut job.looks_at)).collect();
        // Those of one table share a statement, and neighbours a page.
        looks_at.sort_unstable();
        looks_at.dedup();
        self.overlay.read_ahead(self.store, &looks_at)
    }

    /// Runs one command. One that fails leaves no trace in the overlay.
    pub(crate) fn perform(&mut self, work: Work) -> Result<()> {
        let (mark, head_before) = (self.overlay.mark(), self.after);
        let mut transaction = Transaction {
            store: self.store,
            fold: self.fold,
            project: self.project,
            overlay: &mut self.overlay,
            head: &mut self.after,
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
    pub(crate) fn close(mut self) -> Decided {
        let fault = self.complete().err();
        let known = Known { hot: self.overlay.take_hot(), edge: self.edge };
        let (parts, batch) = self.overlay.into_batch();
        let (batch, is_first) = (Arc::new(batch), parts.is_empty());
        let ending = Ending { before: self.before, after: self.after, batch, is_first, fault, answers: self.answers };
        Decided { ending, parts, known }
    }

    /// Whether more can be decided while this is written. The store could not be asked then where the tree stands.
    pub(crate) fn can_hand_over(&self) -> bool {
        self.edge.is_some()
    }

    /// The same as [`Deciding::close`] where more is decided while it is written, and what must be known for that.
    pub(crate) fn hand_over(mut self) -> (Decided, Earlier) {
        let fault = self.complete().err();
        let known = Known { hot: self.overlay.take_hot(), edge: self.edge };
        let (parts, batch, earlier) = self.overlay.hand_over();
        let is_first = parts.is_empty();
        let ending = Ending { before: self.before, after: self.after, batch, is_first, fault, answers: self.answers };
        (Decided { ending, parts, known }, earlier)
    }

    /// Adds what follows from all commands together: whole tiles of the tree, and that something is to be scrubbed.
    fn complete(&mut self) -> Result<()> {
        self.grow()?;
        if !self.overlay.erase.is_empty() {
            let (key, value) = crate::erasure::set(self.after);
            self.overlay.put(key, value);
        }
        Ok(())
    }

    /// The tree is needed once a tile is whole, and the tiles that change then go into the overlay; otherwise the new leaves
    /// are left for later.
    fn grow(&mut self) -> Result<()> {
        if self.before.seq / TILE_HASHES == self.after.seq / TILE_HASHES {
            return Ok(());
        }
        let mut edge = match self.edge.take() {
            Some(edge) => edge,
            None => Edge::load(self.store, self.before.seq)?,
        };
        let leaves: Vec<_> = self.overlay.all_events().map(|event| leaf(&event.body)).collect();
        for leaf in leaves {
            edge.add(leaf, |key, value| self.overlay.put(key, value));
        }
        self.edge = Some(edge);
        Ok(())
    }
}

impl Known {
    /// What is known once what was given out, and what was left then, is written.
    pub(crate) fn following(mut self, parts: Vec<Arc<Batch>>, last: Arc<Batch>) -> Self {
        for batch in parts.into_iter().chain([last]) {
            self.catch_up(&batch);
            self.hot.follow(batch);
        }
        self
    }

    /// Adds the leaves that were left for later to the tree, if that is known.
    fn catch_up(&mut self, batch: &Batch) {
        let Some(edge) = &mut self.edge else { return };
        let size = edge.size();
        for event in batch.events.iter().filter(|event| event.seq > size) {
            // No tile becomes whole by it, or it would be there already.
            edge.add(leaf(&event.body), |_, _| {});
        }
    }
}

/// What somebody said who broke off.
pub(crate) fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "an internal error".to_owned())
}
