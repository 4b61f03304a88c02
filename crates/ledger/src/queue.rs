//! The line of commands before the writer, and the way back of their answers.
//!
//! A writer that waits for more is woken once, when as many are there as it waits for, and not for each, and who waits for
//! one commit is woken with all the others: with many clients anything else would cost more than what they ask for.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::rows::RowKey;
use crate::transaction::Transaction;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> Result<()> + Send>;

/// How somebody hears of an answer who does not wait for it with a thread.
pub(crate) type Tell = Box<dyn FnOnce(Result<()>) + Send>;

/// A command on its way.
pub(crate) struct Job {
    pub(crate) ticket: Ticket,
    pub(crate) work: Work,
    /// Rows that it will look at, as far as that is known.
    pub(crate) looks_at: Vec<RowKey>,
}

enum Progress {
    Waiting,
    /// Taken up by the writer.
    Taken,
    /// Given up by its caller before that.
    GivenUp,
    Answered(Result<()>),
}

impl Progress {
    /// Goes on from waiting, if that is where it is.
    fn leave_waiting(&mut self, to: Progress) -> bool {
        let waits = matches!(self, Progress::Waiting);
        if waits {
            *self = to;
        }
        waits
    }
}

/// Commands that came while the writer was busy with others, and are likely to share a commit. To wake all who wait for it at
/// once costs a fraction of what it costs to wake each of them.
#[derive(Default)]
struct Crowd {
    progress: Mutex<Vec<Progress>>,
    answered: Condvar,
}

impl Crowd {
    /// One more command.
    fn join(self: &Arc<Self>, tell: Option<Tell>) -> (Ticket, Stub) {
        let mut progress = lock(&self.progress);
        let place = progress.len();
        progress.push(Progress::Waiting);
        (Ticket { crowd: Arc::clone(self), place, answered: false, tell }, Stub { crowd: Arc::clone(self), place })
    }
}

/// The writer's end of a command. Whoever drops it without an answer is gone, and so it says.
pub(crate) struct Ticket {
    crowd: Arc<Crowd>,
    place: usize,
    answered: bool,
    tell: Option<Tell>,
}

/// The caller's end of a command.
pub(crate) struct Stub {
    crowd: Arc<Crowd>,
    place: usize,
}

impl Ticket {
    /// Takes the command up, unless its caller is gone.
    pub(crate) fn take(&self) -> bool {
        lock(&self.crowd.progress)[self.place].leave_waiting(Progress::Taken)
    }

    /// Answers the caller. Whoever no longer listens has been told that the outcome is unknown.
    pub(crate) fn answer(self, answer: Result<()>) {
        answer_all(vec![(self, answer)]);
    }
}

/// Answers many callers.
pub(crate) fn answer_all(mut answers: Vec<(Ticket, Result<()>)>) {
    for together in answers.chunk_by_mut(|(one, _), (next, _)| Arc::ptr_eq(&one.crowd, &next.crowd)) {
        let crowd = Arc::clone(&together[0].0.crowd);
        let mut progress = lock(&crowd.progress);
        for (ticket, answer) in &mut *together {
            progress[ticket.place] = Progress::Answered(answer.clone());
            ticket.answered = true;
        }
        drop(progress);
        crowd.answered.notify_all();
        for (ticket, answer) in together {
            if let Some(tell) = ticket.tell.take() {
                tell(std::mem::replace(answer, Ok(())));
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let mut progress = lock(&self.crowd.progress);
        if matches!(progress[self.place], Progress::Waiting | Progress::Taken) {
            let gone = Err(Error::Unknown("the writer is gone".to_owned()));
            progress[self.place] = Progress::Answered(gone.clone());
            drop(progress);
            self.crowd.answered.notify_all();
            if let Some(tell) = self.tell.take() {
                tell(gone);
            }
        }
    }
}

impl Stub {
    /// Waits for the answer, for so long at most.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Result<()>> {
        let unanswered = |progress: &mut Vec<Progress>| !matches!(progress[self.place], Progress::Answered(_));
        let waited = self.crowd.answered.wait_timeout_while(lock(&self.crowd.progress), patience, unanswered);
        let (progress, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &progress[self.place] {
            Progress::Answered(answer) => Some(answer.clone()),
            _ => None,
        }
    }

    /// Gives the command up, unless the writer has it.
    pub(crate) fn give_up(&self) -> bool {
        lock(&self.crowd.progress)[self.place].leave_waiting(Progress::GivenUp)
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
    /// Those who came since commands were last taken.
    crowd: Arc<Crowd>,
    /// How many the writer sleeps for.
    wanted: Option<usize>,
    closed: bool,
}

impl Queue {
    /// How many commands wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Puts a command at the end of the line; nothing, if nobody takes any more.
    pub(crate) fn push(&self, work: Work, looks_at: Vec<RowKey>, tell: Option<Tell>) -> Option<Stub> {
        let mut line = lock(&self.line);
        if line.closed {
            return None;
        }
        let (ticket, stub) = line.crowd.join(tell);
        line.jobs.push_back(Job { ticket, work, looks_at });
        self.waiting.store(line.jobs.len(), Ordering::SeqCst);
        let wake = line.wanted.is_some_and(|wanted| line.jobs.len() >= wanted);
        if wake {
            line.wanted = None;
        }
        drop(line);
        if wake {
            self.enough.notify_one();
        }
        Some(stub)
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
                line.crowd = Arc::default();
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
        line.crowd = Arc::default();
        self.waiting.store(line.jobs.len(), Ordering::SeqCst);
        jobs
    }
}
