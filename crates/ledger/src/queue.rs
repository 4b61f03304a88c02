//! The line of commands before the writer, and the way back of their answers.
//!
//! A writer that waits for more is woken once, when as many are there as it waits for, and not for each; and those who wait for
//! one commit call each other: with many clients anything else would cost more than what they ask for. Who has no thread to wait
//! with is called by its waker.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::rows::RowKey;
use crate::transaction::Transaction;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

pub(crate) type Work = Box<dyn FnOnce(&mut Transaction<'_>) -> Result<()> + Send>;

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

/// Where a caller waits for the answer to its command. Each has its own: who is woken looks at nothing that others look at.
struct Seat {
    state: Mutex<State>,
    answered: Condvar,
}

struct State {
    progress: Progress,
    waits: Waits,
    /// Those whom the caller calls, once it has its answer.
    others: Vec<Call>,
}

/// What is left to do for somebody who was answered: to call them.
enum Call {
    Thread(Arc<Seat>),
    Task(Arc<Seat>, Waker),
    /// The writer, who goes on once the others are called.
    Writer(Arc<Queue>),
}

impl Call {
    /// Who can call others in turn, if somebody is there to do so.
    fn seat(&self) -> Option<&Seat> {
        match self {
            Self::Thread(seat) | Self::Task(seat, _) => Some(seat),
            Self::Writer(_) => None,
        }
    }

    fn make(self) {
        match self {
            Self::Thread(seat) => seat.answered.notify_one(),
            Self::Task(_, waker) => waker.wake(),
            Self::Writer(queue) => queue.nudge(),
        }
    }
}

/// How a caller waits.
enum Waits {
    WithThread,
    /// With what calls it, once it has asked for the first time.
    WithWaker(Option<Waker>),
    /// It is gone, and will neither hear the answer nor wake anybody.
    NotAnyMore,
}

impl State {
    /// Goes on from waiting, if that is where it is.
    fn leave_waiting(&mut self, to: Progress) -> bool {
        let waits = matches!(self.progress, Progress::Waiting);
        if waits {
            self.progress = to;
        }
        waits
    }

    /// Waits no more. Gives those who are still to be called.
    #[must_use]
    fn leave(&mut self) -> Vec<Call> {
        self.waits = Waits::NotAnyMore;
        std::mem::take(&mut self.others)
    }
}

/// The two ends of a command on its way.
fn seat(waits: Waits) -> (Ticket, Stub) {
    let state = State { progress: Progress::Waiting, waits, others: Vec::new() };
    let seat = Arc::new(Seat { state: Mutex::new(state), answered: Condvar::new() });
    (Ticket { seat: Arc::clone(&seat), answered: false }, Stub { seat })
}

/// The writer's end of a command. Whoever drops it without an answer is gone, and so it says.
pub(crate) struct Ticket {
    seat: Arc<Seat>,
    answered: bool,
}

/// The caller's end of a command.
pub(crate) struct Stub {
    seat: Arc<Seat>,
}

impl Ticket {
    /// Takes the command up, unless its caller is gone.
    pub(crate) fn take(&self) -> bool {
        lock(&self.seat.state).leave_waiting(Progress::Taken)
    }

    /// Answers the caller. Whoever no longer listens has been told that the outcome is unknown.
    pub(crate) fn answer(self, answer: Result<()>) {
        answer_all(vec![(self, answer)], None);
    }
}

/// How many callers are called by one of them. To wake somebody takes longer than to write what they asked for, and whoever
/// answers many has the next commit to see to. Of tasks that share a thread, one that is called finds the others ready; if each
/// were called from here, the thread would go to sleep and be woken again between any two.
const CALLED_TOGETHER: usize = 16;

/// Answers many callers. One of some is called here, and calls the others of them. The last of these calls the writer that goes on
/// after them, if there is one: a thread tends to wake where it was called from, and whoever answers keeps its processor busy.
pub(crate) fn answer_all(answers: Vec<(Ticket, Result<()>)>, writer: Option<&Arc<Queue>>) {
    let (mut threads, mut tasks) = (Vec::new(), Vec::new());
    for (mut ticket, answer) in answers {
        ticket.answered = true;
        let mut state = lock(&ticket.seat.state);
        state.progress = Progress::Answered(answer);
        let seat = || Arc::clone(&ticket.seat);
        match &mut state.waits {
            Waits::WithThread => threads.push(Call::Thread(seat())),
            // Without a waker it has not asked yet, and finds the answer when it does.
            Waits::WithWaker(waker) => tasks.extend(waker.take().map(|waker| Call::Task(seat(), waker))),
            Waits::NotAnyMore => {}
        }
    }
    let mut writer = writer.map(|queue| Call::Writer(Arc::clone(queue)));
    // No thread depends on when a task is looked after.
    for calls in [threads, tasks] {
        let mut calls = calls.into_iter();
        while calls.len() > 0 {
            let mut some: Vec<Call> = calls.by_ref().take(CALLED_TOGETHER).collect();
            if calls.len() == 0 {
                some.extend(writer.take());
            }
            call(some);
        }
    }
    writer.into_iter().for_each(Call::make);
}

/// Calls the first of some, and has it call the others. If it is gone meanwhile, the next of them is called instead.
fn call(calls: Vec<Call>) {
    let mut calls = calls.into_iter();
    while let Some(first) = calls.next() {
        let Some(seat) = first.seat() else {
            first.make();
            continue;
        };
        let mut state = lock(&seat.state);
        if !matches!(state.waits, Waits::NotAnyMore) {
            state.others.extend(calls);
            drop(state);
            return first.make();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        let mut state = lock(&self.seat.state);
        if matches!(state.progress, Progress::Waiting | Progress::Taken) {
            state.progress = Progress::Answered(Err(Error::Unknown("the writer is gone".to_owned())));
            let waker = match &mut state.waits {
                Waits::WithWaker(waker) => waker.take(),
                Waits::WithThread | Waits::NotAnyMore => None,
            };
            drop(state);
            self.seat.answered.notify_one();
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl Stub {
    /// Waits for the answer, for so long at most.
    pub(crate) fn wait(&self, patience: Duration) -> Option<Result<()>> {
        let unanswered = |state: &mut State| !matches!(state.progress, Progress::Answered(_));
        let waited = self.seat.answered.wait_timeout_while(lock(&self.seat.state), patience, unanswered);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.progress {
            Progress::Answered(answer) => Some(answer.clone()),
            _ => None,
        }
    }

    /// The answer, if it is there; else the caller is called once it is.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<Result<()>> {
        let mut state = lock(&self.seat.state);
        if let Progress::Answered(answer) = &state.progress {
            let (answer, others) = (answer.clone(), state.leave());
            drop(state);
            others.into_iter().for_each(Call::make);
            return Poll::Ready(answer);
        }
        state.waits = Waits::WithWaker(Some(context.waker().clone()));
        Poll::Pending
    }

    /// Gives the command up, unless the writer has it.
    pub(crate) fn give_up(&self) -> bool {
        lock(&self.seat.state).leave_waiting(Progress::GivenUp)
    }
}

/// However a caller goes, those whom it was to call are called.
impl Drop for Stub {
    fn drop(&mut self) {
        let others = lock(&self.seat.state).leave();
        others.into_iter().for_each(Call::make);
    }
}

/// How long the writer waits to be nudged before it looks by itself: whoever is to nudge it may be busy with something else.
const NUDGED_AFTER: Duration = Duration::from_millis(1);

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
            let (found, timeout) = self.enough.wait_timeout(line, NUDGED_AFTER).unwrap_or_else(PoisonError::into_inner);
            (line, is_late) = (found, timeout.timed_out());
            line.wanted = None;
        }
        let wanted = if std::mem::take(&mut line.nudged) || is_late { 0 } else { enough };
        self.taken(&mut line, wanted)
    }

    /// Waits until somebody nudges, or for a while.
    pub(crate) fn nudged(&self) {
        self.until_nudged(usize::MAX);
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

    /// Longer than any test takes: who is answered in time was woken.
    const LONG: Duration = Duration::from_secs(60);

    fn commands(count: usize) -> (Vec<Ticket>, Vec<Stub>) {
        (0..count).map(|_| seat(Waits::WithThread)).unzip()
    }

    fn all_well(tickets: Vec<Ticket>) -> Vec<(Ticket, Result<()>)> {
        tickets.into_iter().map(|ticket| (ticket, Ok(()))).collect()
    }

    /// Answers all who wait, with their number, and gives what each of some heard.
    fn heard(tickets: Vec<Ticket>, stubs: Vec<(usize, Stub)>) -> Vec<(usize, Result<()>)> {
        std::thread::scope(|scope| {
            let wait = |(nth, stub): (usize, Stub)| scope.spawn(move || (nth, stub.wait(LONG).unwrap()));
            let waiting: Vec<_> = stubs.into_iter().map(wait).collect();
            let answer = |(nth, ticket)| (ticket, Err(Error::NotWritten(format!("{nth}"))));
            answer_all((0..).zip(tickets).map(answer).collect(), None);
            waiting.into_iter().map(|it| it.join().unwrap()).collect()
        })
    }

    #[test]
    fn all_who_share_a_commit_are_woken_each_with_its_own_answer() {
        for count in [1, 2, CALLED_TOGETHER, CALLED_TOGETHER + 1, 5 * CALLED_TOGETHER + 3] {
            let (tickets, stubs) = commands(count);
            for (nth, answer) in heard(tickets, stubs.into_iter().enumerate().collect()) {
                assert_eq!(answer, Err(Error::NotWritten(format!("{nth}"))));
            }
        }
    }

    #[test]
    fn who_went_away_keeps_nobody_from_being_woken() {
        // The first of some is whom the others would be woken by; then all but the last; then nobody is left.
        for gone in [1, CALLED_TOGETHER - 1, CALLED_TOGETHER] {
            let (tickets, stubs) = commands(3 * CALLED_TOGETHER);
            let stays = |nth: &usize| nth % CALLED_TOGETHER >= gone;
            let stubs: Vec<_> = stubs.into_iter().enumerate().filter(|(nth, _)| stays(nth)).collect();
            let heard = heard(tickets, stubs);
            assert_eq!(heard.len(), 3 * (CALLED_TOGETHER - gone));
        }
    }

    #[test]
    fn who_is_to_wake_others_and_goes_without_looking_wakes_them() {
        let (tickets, mut stubs) = commands(CALLED_TOGETHER);
        let first = stubs.remove(0);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = stubs.into_iter().map(|stub| scope.spawn(move || stub.wait(LONG))).collect();
            answer_all(all_well(tickets), None);
            drop(first);
            waiting.into_iter().for_each(|it| assert_eq!(it.join().unwrap(), Some(Ok(()))));
        });
    }

    #[test]
    fn who_has_no_thread_is_called_and_keeps_nobody_from_being_woken() {
        let (mut tickets, stubs) = commands(2 * CALLED_TOGETHER);
        // Where one would be woken who wakes others, one stands who has no thread: of two, one has asked already.
        let (waker, calls) = counting();
        let polled: Vec<Stub> = (0..2)
            .map(|nth| {
                let (ticket, stub) = seat(Waits::WithWaker(None));
                tickets.insert(nth * CALLED_TOGETHER, ticket);
                stub
            })
            .collect();
        let ask = |stub: &Stub| stub.poll(&Context::from_waker(&waker));
        assert_eq!(ask(&polled[0]), Poll::Pending);
        std::thread::scope(|scope| {
            let waiting: Vec<_> = stubs.into_iter().map(|stub| scope.spawn(move || stub.wait(LONG))).collect();
            answer_all(all_well(tickets), None);
            waiting.into_iter().for_each(|it| assert_eq!(it.join().unwrap(), Some(Ok(()))));
        });
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(polled.iter().all(|stub| ask(stub) == Poll::Ready(Ok(()))));
    }

    /// Tasks that have asked once, the ends at which they are answered, and how often any of them was called.
    fn tasks(count: usize) -> (Vec<Ticket>, Vec<Stub>, Arc<AtomicUsize>) {
        let (waker, calls) = counting();
        let (tickets, stubs): (Vec<_>, Vec<_>) = (0..count).map(|_| seat(Waits::WithWaker(None))).unzip();
        stubs.iter().for_each(|stub| assert!(stub.poll(&Context::from_waker(&waker)).is_pending()));
        (tickets, stubs, calls)
    }

    #[test]
    fn of_some_tasks_the_first_is_called_and_calls_the_others_however_it_goes() {
        const SOME: usize = CALLED_TOGETHER;
        let look = |stub: &Stub| assert_eq!(stub.poll(&Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
        for gone in [0, 1, SOME - 1, SOME] {
            for looks in [true, false] {
                let (tickets, mut stubs, calls) = tasks(2 * SOME + 1);
                let called = || calls.load(Ordering::SeqCst);
                stubs.drain(..gone);
                answer_all(all_well(tickets), None);
                let left = stubs.len();
                let firsts = left.div_ceil(SOME);
                assert_eq!(called(), firsts);
                let first = stubs.remove(0);
                if looks {
                    look(&first);
                }
                drop(first);
                assert_eq!(called(), firsts + left.min(SOME) - 1, "{gone} are gone, and the first looks: {looks}");
                stubs.iter().for_each(look);
                assert_eq!(called(), left);
            }
        }
    }

    #[test]
    fn the_writer_is_nudged_by_whoever_is_called_last_or_at_once_where_nobody_is_left() {
        let queue = Arc::<Queue>::default();
        let is_nudged = || std::mem::take(&mut lock(&queue.line).nudged);
        let look = |stub: &Stub| assert!(stub.poll(&Context::from_waker(Waker::noop())).is_ready());
        let (tickets, stubs, _) = tasks(CALLED_TOGETHER + 2);
        answer_all(all_well(tickets), Some(&queue));
        look(&stubs[0]);
        assert!(!is_nudged());
        look(&stubs[CALLED_TOGETHER]);
        assert!(is_nudged());
        let (tickets, stubs, _) = tasks(3);
        drop(stubs);
        answer_all(all_well(tickets), Some(&queue));
        assert!(is_nudged());
        answer_all(Vec::new(), Some(&queue));
        assert!(is_nudged());
        let (tickets, stubs) = commands(2);
        answer_all(all_well(tickets), Some(&queue));
        assert!(!is_nudged());
        drop(stubs);
        assert!(is_nudged());
    }

    #[test]
    fn a_writer_that_nobody_nudges_looks_by_itself() {
        let queue = Queue::default();
        let _stub = queue.push(Box::new(|_| Ok(())), Vec::new()).unwrap();
        assert!(queue.until_nudged(2).is_empty());
        assert_eq!(queue.until_nudged(1).len(), 1);
    }

    #[test]
    fn who_has_no_thread_is_called_when_the_writer_is_gone() {
        let (waker, calls) = counting();
        let (ticket, stub) = seat(Waits::WithWaker(None));
        assert!(stub.poll(&Context::from_waker(&waker)).is_pending());
        drop(ticket);
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        assert!(matches!(stub.poll(&Context::from_waker(&waker)), Poll::Ready(Err(Error::Unknown(_)))));
    }

    /// A waker, and how often it was used.
    fn counting() -> (Waker, Arc<AtomicUsize>) {
        struct Counting(Arc<AtomicUsize>);
        impl std::task::Wake for Counting {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let calls = Arc::<AtomicUsize>::default();
        (Arc::new(Counting(Arc::clone(&calls))).into(), calls)
    }

    #[test]
    fn who_waits_for_commands_is_nudged_and_takes_none_then() {
        let queue = Queue::default();
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
            let come = || loop {
                let jobs = queue.until_nudged(3);
                if !jobs.is_empty() {
                    return jobs.len();
                }
            };
            let waiting = scope.spawn(come);
            let _stubs = [push(), push(), push()];
            assert_eq!(waiting.join().unwrap(), 3);
        });
        // It keeps nobody from waiting for others as long as they come.
        queue.nudge();
        let (began, linger) = (Instant::now(), Duration::from_millis(20));
        assert!(queue.more(1, 1, linger, began + LONG).is_empty());
        assert!(began.elapsed() >= linger);
    }

    #[test]
    fn a_command_is_taken_up_or_given_up_and_whoever_is_dropped_says_so() {
        let (ticket, stub) = seat(Waits::WithThread);
        assert!(stub.give_up());
        assert!(!ticket.take());
        let (ticket, stub) = seat(Waits::WithThread);
        assert!(ticket.take());
        assert!(!stub.give_up());
        drop(ticket);
        assert!(matches!(stub.wait(LONG), Some(Err(Error::Unknown(_)))));
    }
}
