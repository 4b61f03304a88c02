//! The line of commands before the writer.
//!
//! A writer that waits for more is woken once, when as many are there as it waits for, and not for each.

use crate::error::Result;
use crate::ledger::lock;
use crate::rows::RowKey;
use crate::seat::{Seat, Stub, Ticket, Waits, seat};
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

/// How long the writer waits to be nudged before it looks by itself: whoever is to nudge it may be busy with something else.
const NUDGED_AFTER: Duration = Duration::from_millis(1);

/// Commands in the order in which they came.
pub(crate) struct Queue {
    line: Mutex<Line>,
    enough: Condvar,
    /// How many wait, to be known without the lock.
    waiting: AtomicUsize,
    /// Those who were answered last and are to call others, whether or not they have done so.
    callers: Mutex<Vec<Arc<Seat>>>,
    looks_after: Duration,
}

impl Default for Queue {
    fn default() -> Self {
        let (line, enough, waiting, callers) = Default::default();
        Self { line, enough, waiting, callers, looks_after: NUDGED_AFTER }
    }
}

#[derive(Default)]
struct Line {
    jobs: VecDeque<Job>,
    /// How many the writer sleeps for.
    wanted: Option<usize>,
    /// Whether somebody else has something for the writer.
    nudged: bool,
    closed: bool,
}

impl Queue {
    /// How many commands wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// Puts a command at the end of the line, whose caller waits with its thread; nothing, if nobody takes any more.
    pub(crate) fn push(&self, work: Work, looks_at: Vec<RowKey>) -> Option<Stub> {
        self.put(work, looks_at, Waits::WithThread)
    }

    /// The same for a caller who asks by and by.
    pub(crate) fn push_polled(&self, work: Work, looks_at: Vec<RowKey>) -> Option<Stub> {
        self.put(work, looks_at, Waits::WithWaker(None))
    }

    fn put(&self, work: Work, looks_at: Vec<RowKey>, waits: Waits) -> Option<Stub> {
        let (ticket, stub) = seat(waits);
        let mut line = lock(&self.line);
        if line.closed {
            return None;
        }
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

    /// Has the writer look up who waits for commands, and does not know that there is something else.
    pub(crate) fn nudge(&self) {
        lock(&self.line).nudged = true;
        self.enough.notify_one();
    }

    /// Waits until so many commands are there, and takes them; or until somebody nudges or it took too long, and takes none:
    /// what there is to know may be that nobody is to be taken.
    pub(crate) fn until_nudged(&self, enough: usize) -> Vec<Job> {
        let mut line = lock(&self.line);
        let mut is_late = false;
        while line.jobs.len() < enough && !line.nudged && !is_late {
            line.wanted = Some(enough);
            let (found, timeout) =
                self.enough.wait_timeout(line, self.looks_after).unwrap_or_else(PoisonError::into_inner);
            (line, is_late) = (found, timeout.timed_out());
            line.wanted = None;
        }
        let wanted = if std::mem::take(&mut line.nudged) || is_late { 0 } else { enough };
        let taken = self.taken(&mut line, wanted);
        drop(line);
        if is_late {
            self.call_the_rest();
        }
        taken
    }

    /// Waits until somebody nudges, or for a while.
    pub(crate) fn nudged(&self) {
        self.until_nudged(usize::MAX);
    }

    /// Notes who is to call others from now on, and calls whom those before them have left.
    pub(crate) fn have_called_by(&self, callers: Vec<Arc<Seat>>) {
        let before = std::mem::replace(&mut *lock(&self.callers), callers);
        before.iter().for_each(|seat| seat.call_others());
    }

    /// Calls those whom nobody has called yet: whoever is to do so may be busy with something else, or never look.
    pub(crate) fn call_the_rest(&self) {
        self.have_called_by(Vec::new());
    }

    /// Takes up to `most` commands off the line.
    fn taken(&self, line: &mut Line, most: usize) -> Vec<Job> {
        let taken = most.min(line.jobs.len());
        let jobs = line.jobs.drain(..taken).collect();
        self.waiting.store(line.jobs.len(), Ordering::SeqCst);
        jobs
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
        let mut last = until.min(Instant::now() + linger);
        while line.jobs.len() < likely {
            let (before, left) = (line.jobs.len(), last.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                break;
            }
            line.wanted = Some(likely);
            line = self.enough.wait_timeout(line, left).unwrap_or_else(PoisonError::into_inner).0;
            line.wanted = None;
            if line.jobs.len() > before {
                last = until.min(Instant::now() + linger);
            }
        }
        self.taken(&mut line, most)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_writer_that_nobody_nudges_looks_by_itself() {
        let queue = Queue::default();
        let _stub = queue.push(Box::new(|_| Ok(())), Vec::new()).unwrap();
        assert!(queue.until_nudged(2).is_empty());
        assert_eq!(queue.until_nudged(1).len(), 1);
    }

    #[test]
    fn who_waits_for_commands_is_nudged_and_takes_none_then() {
        let queue = Queue { looks_after: LONG, ..Queue::default() };
        let began = Instant::now();
        let push = || queue.push(Box::new(|_| Ok(())), Vec::new()).unwrap();
        let _first = push();
        // Before, and in vain the second time: once is enough.
        queue.nudge();
        queue.nudge();
        assert!(queue.until_nudged(2).is_empty());
        let _second = push();
        assert_eq!(queue.until_nudged(2).len(), 2);
        std::thread::scope(|scope| {
            // While it waits, or before, as it happens; and for as many as it waits for.
            let waiting = scope.spawn(|| queue.until_nudged(2).len());
            queue.nudge();
            assert_eq!(waiting.join().unwrap(), 0);
            let waiting = scope.spawn(|| queue.until_nudged(3).len());
            let _stubs = [push(), push(), push()];
            assert_eq!(waiting.join().unwrap(), 3);
        });
        assert!(began.elapsed() < LONG);
        // It keeps nobody from waiting for others as long as they come.
        queue.nudge();
        let (began, linger) = (Instant::now(), Duration::from_millis(20));
        assert!(queue.more(1, 1, linger, began + LONG).is_empty());
        assert!(began.elapsed() >= linger);
    }
}
