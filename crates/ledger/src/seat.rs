//! Where callers wait for the answers to their commands, and who calls them.
//!
//! Those who wait for one commit call each other: with many of them anything else would cost more than what they ask for. Who has
//! no thread to wait with is called by its waker.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::queue::Queue;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
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
pub(crate) struct Seat {
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
    Writer(Arc<Cue>),
}

impl Call {
    /// Who can call others in turn, if somebody is there to do so.
    fn seat(&self) -> Option<&Arc<Seat>> {
        match self {
            Self::Thread(seat) | Self::Task(seat, _) => Some(seat),
            Self::Writer(_) => None,
        }
    }

    fn make(self) {
        match self {
            Self::Thread(seat) => seat.answered.notify_one(),
            // What a stranger's waker does is not the matter of those who come after it.
            Self::Task(_, waker) => drop(catch_unwind(AssertUnwindSafe(|| waker.wake()))),
            Self::Writer(cue) => cue.called(),
        }
    }
}

/// How a caller waits.
pub(crate) enum Waits {
    WithThread,
    /// With what calls it, once it has asked for the first time.
    WithWaker(Option<Waker>),
    /// It has its answer, or is gone, and will not call anybody any more.
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

impl Seat {
    /// Calls those whom its caller has not called yet.
    pub(crate) fn call_others(&self) {
        let others = std::mem::take(&mut lock(&self.state).others);
        others.into_iter().for_each(Call::make);
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

/// The writer's cue to go on: the next transaction is begun, and somebody who was answered has called. It is nudged by whichever
/// comes second. As a rule that is a caller, and the writer wakes where that one runs: whoever answers keeps its own processor busy.
pub(crate) struct Cue {
    queue: Arc<Queue>,
    come: AtomicU8,
}

impl Cue {
    const TOLD: u8 = 1;
    const CALLED: u8 = 2;

    pub(crate) fn on(queue: &Arc<Queue>) -> Self {
        Self { queue: Arc::clone(queue), come: AtomicU8::new(0) }
    }

    /// What became of the next transaction has been told.
    pub(crate) fn told(&self) {
        self.comes(Self::TOLD);
    }

    fn called(&self) {
        self.comes(Self::CALLED);
    }

    fn comes(&self, one: u8) {
        let before = self.come.fetch_or(one, Ordering::SeqCst);
        if before != 0 && before & one == 0 {
            self.queue.nudge();
        }
    }
}

/// Answers many callers. Of those with threads one of some is called here, and calls the others of them. Where the writer goes on
/// afterwards it is the same with tasks, and the writer is called last; and it sees to those whom nobody calls. Where it does not,
/// tasks are called here: one may never look.
pub(crate) fn answer_all(answers: Vec<(Ticket, Result<()>)>, cue: Option<&Arc<Cue>>) {
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
    // No thread depends on when a task is looked after.
    let mut groups = some_each(threads, CALLED_TOGETHER);
    groups.extend(some_each(tasks, if cue.is_some() { CALLED_TOGETHER } else { 1 }));
    if let Some(cue) = cue {
        match groups.last_mut() {
            Some(last) => last.push(Call::Writer(Arc::clone(cue))),
            None => cue.called(),
        }
    }
    let callers = groups.into_iter().filter_map(call).collect();
    if let Some(cue) = cue {
        cue.queue.have_called_by(callers);
    }
}

fn some_each(calls: Vec<Call>, most: usize) -> Vec<Vec<Call>> {
    let mut calls = calls.into_iter();
    std::iter::from_fn(|| Some(calls.by_ref().take(most).collect()).filter(|some: &Vec<Call>| !some.is_empty()))
        .collect()
}

/// Calls the first of some, and has it call the others. If it is gone meanwhile, the next of them is called instead. Gives who is to
/// call others.
fn call(calls: Vec<Call>) -> Option<Arc<Seat>> {
    let mut calls = calls.into_iter();
    while let Some(first) = calls.next() {
        let Some(seat) = first.seat().cloned() else {
            first.make();
            continue;
        };
        let mut state = lock(&seat.state);
        if !matches!(state.waits, Waits::NotAnyMore) {
            state.others.extend(calls);
            drop(state);
            first.make();
            return Some(seat);
        }
    }
    None
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
        let waits = Waits::WithWaker(Some(context.waker().clone()));
        let mut state = lock(&self.seat.state);
        if let Progress::Answered(answer) = &state.progress {
            let (answer, others) = (answer.clone(), state.leave());
            drop(state);
            others.into_iter().for_each(Call::make);
            return Poll::Ready(answer);
        }
        let before = std::mem::replace(&mut state.waits, waits);
        // Whose waker that was may do something when it goes.
        drop(state);
        drop(before);
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
#[allow(clippy::panic, clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Instant;

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
        let began = Instant::now();
        let heard = std::thread::scope(|scope| {
            let wait = |(nth, stub): (usize, Stub)| scope.spawn(move || (nth, stub.wait(LONG).unwrap()));
            let waiting: Vec<_> = stubs.into_iter().map(wait).collect();
            let answer = |(nth, ticket)| (ticket, Err(Error::NotWritten(format!("{nth}"))));
            answer_all((0..).zip(tickets).map(answer).collect(), None);
            waiting.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(began.elapsed() < LONG);
        heard
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
        let queue = Arc::default();
        let look = |stub: &Stub| assert_eq!(stub.poll(&Context::from_waker(Waker::noop())), Poll::Ready(Ok(())));
        for gone in [0, 1, SOME - 1, SOME] {
            for looks in [true, false] {
                let (tickets, mut stubs, calls) = tasks(2 * SOME + 1);
                let called = || calls.load(Ordering::SeqCst);
                stubs.drain(..gone);
                answer_all(all_well(tickets), Some(&cue(&queue)));
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

    fn cue(queue: &Arc<Queue>) -> Arc<Cue> {
        Arc::new(Cue::on(queue))
    }

    #[test]
    fn tasks_that_nobody_is_there_to_see_to_are_all_called_at_once() {
        let (tickets, stubs, calls) = tasks(2 * CALLED_TOGETHER);
        answer_all(all_well(tickets), None);
        assert_eq!(calls.load(Ordering::SeqCst), stubs.len());
    }

    #[test]
    fn who_is_called_and_never_looks_keeps_nobody_waiting() {
        let queue = Arc::<Queue>::default();
        let all = CALLED_TOGETHER + 2;
        // With the next answer, when the writer looks by itself, and when it goes.
        let rescues: [&dyn Fn(); 3] =
            [&|| answer_all(Vec::new(), Some(&cue(&queue))), &|| assert!(queue.until_nudged(1).is_empty()), &|| {
                queue.call_the_rest()
            }];
        for rescue in rescues {
            let (tickets, stubs, calls) = tasks(all);
            answer_all(all_well(tickets), Some(&cue(&queue)));
            assert_eq!(calls.load(Ordering::SeqCst), 2);
            rescue();
            assert_eq!(calls.load(Ordering::SeqCst), all);
            drop(stubs);
            assert_eq!(calls.load(Ordering::SeqCst), all);
        }
    }

    #[test]
    fn a_waker_that_breaks_keeps_nobody_from_being_called() {
        struct Breaking;
        impl std::task::Wake for Breaking {
            fn wake(self: Arc<Self>) {
                panic!("a stranger's waker");
            }
        }
        let (ticket, breaking) = seat(Waits::WithWaker(None));
        assert!(breaking.poll(&Context::from_waker(&Arc::new(Breaking).into())).is_pending());
        let (mut tickets, stubs, calls) = tasks(2);
        tickets.insert(0, ticket);
        answer_all(all_well(tickets), None);
        assert_eq!(calls.load(Ordering::SeqCst), stubs.len());
    }

    #[test]
    fn whoever_goes_while_the_others_are_called_is_passed_over() {
        let queue = Arc::<Queue>::default();
        let (waker, calls) = counting();
        let someone = || Call::Task(Arc::clone(&seat(Waits::WithWaker(None)).1.seat), waker.clone());
        let gone = || {
            let (_ticket, stub) = seat(Waits::WithWaker(None));
            Call::Task(Arc::clone(&stub.seat), waker.clone())
        };
        let here = seat(Waits::WithWaker(None));
        let stays = Call::Task(Arc::clone(&here.1.seat), waker.clone());
        let leads = call(vec![gone(), someone(), stays, gone()]).unwrap();
        assert!(Arc::ptr_eq(&leads, &here.1.seat));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        let cue = cue(&queue);
        cue.told();
        assert!(call(vec![gone(), gone(), Call::Writer(cue)]).is_none());
        assert!(is_nudged(&queue));
    }

    fn is_nudged(queue: &Queue) -> bool {
        let _stub = queue.push(Box::new(|_| Ok(())), Vec::new());
        queue.until_nudged(1).is_empty()
    }

    #[test]
    fn the_writer_is_nudged_once_by_the_last_of_those_who_are_called_or_by_whoever_tells_it() {
        let queue = Arc::<Queue>::default();
        let look = |stub: &Stub| assert!(stub.poll(&Context::from_waker(Waker::noop())).is_ready());
        for tells_first in [true, false] {
            // Threads come first, and the writer after the last of the tasks.
            let (mut tickets, threads) = commands(2);
            let (others, stubs, _) = tasks(CALLED_TOGETHER + 2);
            tickets.extend(others);
            let cue = cue(&queue);
            if tells_first {
                cue.told();
            }
            answer_all(all_well(tickets), Some(&cue));
            drop(threads);
            look(&stubs[0]);
            assert!(!is_nudged(&queue));
            look(&stubs[CALLED_TOGETHER]);
            assert_eq!(is_nudged(&queue), tells_first);
            cue.told();
            assert_eq!(is_nudged(&queue), !tells_first);
            cue.told();
            assert!(!is_nudged(&queue));
        }
        // Where nobody is left, it is as good as called.
        let (tickets, stubs, _) = tasks(3);
        drop(stubs);
        for answers in [all_well(tickets), Vec::new()] {
            let cue = cue(&queue);
            answer_all(answers, Some(&cue));
            assert!(!is_nudged(&queue));
            cue.told();
            assert!(is_nudged(&queue));
        }
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
