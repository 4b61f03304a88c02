//! Where callers wait for the answers to their commands, and who calls them.
//!
//! Those who wait for one commit call each other: with many of them anything else would cost more than what they ask for. Who has
//! no thread to wait with is called by its waker.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::queue::Queue;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

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
pub(crate) enum Waits {
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
pub(crate) fn seat(waits: Waits) -> (Ticket, Stub) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

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
        let is_nudged = || {
            let _stub = queue.push(Box::new(|_| Ok(())), Vec::new());
            queue.until_nudged(1).is_empty()
        };
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
