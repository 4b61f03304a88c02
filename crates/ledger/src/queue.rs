//! The line of commands before the writer, and the way back of their answers.
//!
//! A writer that waits for more is woken once, when as many are there as it waits for, and not for each: with many clients
//! that would cost more than what they ask for.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::rows::RowKey;
use crate::transaction::Transaction;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> Result<()> + Send>;

/// A command on its way.
pub(crate) struct Job {
    pub(crate) ticket: Ticket,
    pub(crate) work: Work,
    /// Rows that it will look at, as far as that is known.
    pub(crate) looks_at: Vec<RowKey>,
}

#[derive(Default)]
enum Progress {
    #[default]
    Waiting,
    /// Taken up by the writer.
    Taken,
    /// Given up by its caller before that.
    GivenUp,
    Answered(Result<()>),
}

#[derive(Default)]
struct Slot {
    progress: Mutex<Progress>,
    answered: Condvar,
}

/// The writer's end of a command. Whoever drops it without an answer is gone, and so it says.
pub(crate) struct Ticket(Arc<Slot>);

/// The caller's end of a command.
pub(crate) struct Stub(Arc<Slot>);

/// Both ends of a new command.
pub(crate) fn ticket() -> (Ticket, Stub) {
    let slot = Arc::new(Slot::default());
    (Ticket(Arc::clone(&slot)), Stub(slot))
}

impl Ticket {
    /// Takes the command up, unless its caller is gone.
    pub(crate) fn take(&self) -> bool {
        let mut progress = lock(&self.0.progress);
        let waits = matches!(*progress, Progress::Waiting);
        if waits {
            *progress = Progress::Taken;
        }
        waits
    }

    /// Answers the caller. Whoever no longer listens has been told that the outcome is unknown.
    pub(crate) fn answer(&self, answer: Result<()>) {
        *lock(&self.0.progress) = Progress::Answered(answer);
        self.0.answered.notify_one();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut progress = lock(&self.0.progress);
        if matches!(*progress, Progress::Waiting | Progress::Taken) {
            *progress = Progress::Answered(Err(Error::Unknown("the writer is gone".to_owned())));
            self.0.answered.notify_one();
        }
    }
}

impl Stub {
    /// Waits for the answer, for so long at most.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Result<()>> {
        let unanswered = |progress: &mut Progress| !matches!(progress, Progress::Answered(_));
        let waited = self.0.answered.wait_timeout_while(lock(&self.0.progress), patience, unanswered);
        let (progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &*progress {
            Progress::Answered(answer) => Some(answer.clone()),
            _ => None,
        }
    }

    /// Gives the command up, unless the writer has it.
    pub(crate) fn give_up(&self) -> bool {
        let mut progress = lock(&self.0.progress);
        let waits = matches!(*progress, Progress::Waiting);
        if waits {
            *progress = Progress::GivenUp;
        }
        waits
    }
}

/// Commands in the order in which they came.
#[derive(Default)]
pub(crate) struct Queue {
    line: Mutex<Line>,
    enough: Condvar,
    /// How many wait, to be known without the lock.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Job>,
    /// How many the writer sleeps for.
    wanted: Option<usize>,
    closed: bool,
}

impl Queue {
    /// How many commands wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Puts a command at the end of the line; false, if nobody takes any more.
    pub(crate) fn push(&self, job: Job) -> bool {
        let mut line = lock(&self.line);
        if line.closed {
            return false;
        }
        line.jobs.push_back(job);
        self.waiting.store(line.jobs.len(), Ordering::SeqCst);
        let wake = line.wanted.is_some_and(|wanted| line.jobs.len() >= wanted);
        if wake {
            line.wanted = None;
        }
        drop(line);
        if wake {
            self.enough.notify_one();
        }
        true
    }

    /// No more commands are taken; those that wait still are.
    pub(crate) fn close(&self) {
        lock(&self.line).closed = true;
        self.enough.notify_one();
    }

    /// Nobody is there any more to take a command.
    pub(crate) fn abandon(&self) {
        let mut line = lock(&self.line);
        line.closed = true;
        let left = std::mem::take(&mut line.jobs);
        drop(line);
        drop(left);
    }

    /// Waits for a command; nothing, if the line is closed and empty.
    pub(crate) fn first(&self) -> Option<Job> {
        let mut line = lock(&self.line);
        loop {
            if let Some(job) = line.jobs.pop_front() {
                self.waiting.store(line.jobs.len(), Ordering::SeqCst);
                return Some(job);
            }
            if line.closed {
                return None;
            }
            line.wanted = Some(1);
            line = self.enough.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes up to `most` commands that wait. If they are fewer than `likely`, it waits for those, as long as one comes at
    /// least every `linger`, and until a point in time at most.
    pub(crate) fn more(&self, likely: usize, most: usize, linger: Duration, until: Instant) -> Vec<Job> {
        let likely = likely.min(most);
        let mut line = lock(&self.line);
        while line.jobs.len() < likely && Instant::now() < until {
            let before = line.jobs.len();
            line.wanted = Some(likely);
            line = self.enough.wait_timeout(line, linger).unwrap_or_else(PoisonError::into_inner).0;
            line.wanted = None;
            if line.jobs.len() == before {
                break;
            }
        }
        let taken = most.min(line.jobs.len());
        let jobs = line.jobs.drain(..taken).collect();
        self.waiting.store(line.jobs.len(), Ordering::SeqCst);
        jobs
    }
}
