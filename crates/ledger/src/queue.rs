//! The line of commands before the writer, and the way back of their answers.
//!
//! A writer that waits for more is woken once, when as many are there as it waits for, and not for each: with many clients
//! that would cost more than what they ask for. For the same reason it wakes only the first of those that it answers, and
//! each of them wakes two others, while the writer goes on.

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
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
struct State {
    progress: Progress,
    /// Whether the caller waits, and will see an answer that is put here.
    listens: bool,
    /// Whom the caller wakes when it sees the answer.
    wakes: Vec<Arc<Slot>>,
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
        let mut state = lock(&self.0.state);
        let waits = matches!(state.progress, Progress::Waiting);
        if waits {
            state.progress = Progress::Taken;
        }
        waits
    }

    /// Answers the caller. Whoever no longer listens has been told that the outcome is unknown.
    pub(crate) fn answer(self, answer: Result<()>) {
        answer_all(vec![(self, answer)]);
    }
}

/// Answers some callers. The first is woken here, and each wakes two more: the one at `n` those at `2n + 1` and `2n + 2`.
pub(crate) fn answer_all(answers: Vec<(Ticket, Result<()>)>) {
    let count = answers.len();
    let mut unwoken: VecDeque<Arc<Slot>> = VecDeque::new();
    // From the last to the first, so that whoever can see its answer knows already whom to wake.
    for (n, (ticket, answer)) in answers.into_iter().enumerate().rev() {
        let beneath = (2 * n + 1..=2 * n + 2).filter(|it| *it < count).count().min(unwoken.len());
        let mut state = lock(&ticket.0.state);
        state.progress = Progress::Answered(answer);
        // Who does not wait yet sees the answer without being woken, and must not be relied on to wake others.
        if state.listens {
            state.wakes = unwoken.drain(..beneath).collect();
            drop(state);
            unwoken.push_back(Arc::clone(&ticket.0));
        }
    }
    unwoken.iter().for_each(|slot| slot.answered.notify_one());
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        if matches!(state.progress, Progress::Waiting | Progress::Taken) {
            state.progress = Progress::Answered(Err(Error::Unknown("the writer is gone".to_owned())));
            self.0.answered.notify_one();
        }
    }
}

impl Stub {
    /// Waits for the answer, for so long at most.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Result<()>> {
        let mut state = lock(&self.0.state);
        state.listens = true;
        let unanswered = |state: &mut State| !matches!(state.progress, Progress::Answered(_));
        let waited = self.0.answered.wait_timeout_while(state, patience, unanswered);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.listens = false;
        let wakes = std::mem::take(&mut state.wakes);
        let answer = match &state.progress {
            Progress::Answered(answer) => Some(answer.clone()),
            _ => None,
        };
        drop(state);
        wakes.iter().for_each(|slot| slot.answered.notify_one());
        answer
    }

    /// Gives the command up, unless the writer has it.
    pub(crate) fn give_up(&self) -> bool {
        let mut state = lock(&self.0.state);
        let waits = matches!(state.progress, Progress::Waiting);
        if waits {
            state.progress = Progress::GivenUp;
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

    /// Takes up to `most` commands that wait. If they are fewer than are wanted, it waits for those, as long as one comes at
    /// least every `linger`, and until a point in time at most.
    pub(crate) fn more(&self, wanted: usize, most: usize, linger: Duration, until: Instant) -> Vec<Job> {
        let wanted = wanted.min(most);
        let mut line = lock(&self.line);
        while line.jobs.len() < wanted && Instant::now() < until {
            let before = line.jobs.len();
            line.wanted = Some(wanted);
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
