//! The scribe: a thread that writes what the first commands of a commit came to, while the others are decided, and then
//! commits and answers them.
//!
//! It waits where it is told to write, and so is at work at once: a thread that is started for each commit begins behind all
//! whom the last commit woke, and that takes as long as to write.

use crate::deciding::said;
use crate::ending::Ending;
use crate::error::{Error, Result};
use crate::queue::Queue;
use crate::seat::Cue;
use crate::store::{Batch, NOT_KEPT, Store};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

/// The thread. It ends when this is dropped.
pub(crate) struct Scribe {
    orders: Sender<Order>,
    reports: Receiver<Report>,
    /// Whether it has a store.
    pub(crate) is_busy: bool,
}

/// What it is told, one after the other.
enum Order {
    /// In this transaction it writes from now on.
    Take(Box<dyn Store>),
    Write(Arc<Batch>),
    /// That ends it. The writer may have to stand in line for it once more.
    End(Ending, Arc<AtomicBool>),
    /// That ends it, and another one begins in its place.
    EndAndStay(Ending, Arc<AtomicBool>),
    GiveBack,
}

/// What it tells.
enum Report {
    /// Whether another transaction was begun after one that was ended.
    Next(Result<Next>),
    Store(Done),
}

/// The transaction after one that is durable.
#[derive(Clone, Copy)]
pub(crate) struct Next {
    /// Whether somebody else stands in line for the writer's place.
    pub(crate) is_awaited: bool,
}

/// The store, and what came of writing to it.
type Done = (Box<dyn Store>, Result<()>);

impl Scribe {
    /// Starts the thread, if one can be had. Whoever waits in a queue is nudged when another transaction was begun, by it or by one
    /// of those whom it answered.
    pub(crate) fn start(queue: Arc<Queue>) -> Option<Self> {
        let (orders, ordered) = channel();
        let (tell, reports) = channel();
        let work = move || carry_out(&ordered, &Desk { tell: Some(tell), queue });
        std::thread::Builder::new().name("ledger-scribe".to_owned()).spawn(work).ok()?;
        Some(Self { orders, reports, is_busy: false })
    }

    /// Gives it a store in which a transaction was begun. If the thread is gone, the store is given back.
    pub(crate) fn take(&mut self, store: Box<dyn Store>) -> std::result::Result<(), Box<dyn Store>> {
        let gone = |order| match order {
            Order::Take(store) => Err(store),
            _ => Ok(()),
        };
        self.orders.send(Order::Take(store)).map_or_else(|unsent| gone(unsent.0), Ok)?;
        self.is_busy = true;
        Ok(())
    }

    /// Has a part of the transaction written. Whether that went well is said when the store is given back.
    pub(crate) fn write(&self, part: Arc<Batch>) {
        let _ = self.orders.send(Order::Write(part));
    }

    /// Has the transaction ended, and all who wait for it answered. What came of it is said when the store is given back; who is
    /// not answered because the thread is gone is told so.
    pub(crate) fn end(&self, ending: Ending, in_line: &Arc<AtomicBool>) {
        let _ = self.orders.send(Order::End(ending, Arc::clone(in_line)));
    }

    /// The same, and has another transaction begun in the same place. [`Scribe::next`] says whether it was.
    pub(crate) fn end_and_stay(&self, ending: Ending, in_line: &Arc<AtomicBool>) {
        let _ = self.orders.send(Order::EndAndStay(ending, Arc::clone(in_line)));
    }

    /// Whether the next transaction was begun; nothing, if it is not that far yet.
    pub(crate) fn next(&self) -> Option<Result<Next>> {
        match self.reports.try_recv() {
            Ok(report) => Some(next_of(report)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(gone())),
        }
    }

    /// The same, and waits for it. The queue is where it nudges.
    pub(crate) fn wait_for_next(&self, queue: &Queue) -> Result<Next> {
        loop {
            if let Some(next) = self.next() {
                return next;
            }
            queue.nudged();
        }
    }

    /// Waits until everything is done, and takes the store back; nothing, if the thread is gone.
    pub(crate) fn give_back(&mut self) -> Option<Done> {
        self.is_busy = false;
        self.orders.send(Order::GiveBack).ok()?;
        self.reports.iter().find_map(|report| match report {
            Report::Store(done) => Some(done),
            Report::Next(_) => None,
        })
    }
}

fn next_of(report: Report) -> Result<Next> {
    match report {
        Report::Next(next) => next,
        // Nobody asked for that.
        Report::Store(_) => Err(gone()),
    }
}

pub(crate) fn gone() -> Error {
    Error::NotWritten("who wrote it is gone".to_owned())
}

/// Where the thread tells what came of its orders. However it ends, whoever waits is nudged after that is to be seen.
struct Desk {
    tell: Option<Sender<Report>>,
    queue: Arc<Queue>,
}

impl Desk {
    fn tell(&self, report: Report) -> bool {
        self.tell.as_ref().is_some_and(|tell| tell.send(report).is_ok())
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.tell = None;
        self.queue.nudge();
    }
}

fn carry_out(ordered: &Receiver<Order>, desk: &Desk) {
    let mut under_way: Option<Done> = None;
    while let Ok(order) = ordered.recv() {
        match order {
            Order::Take(store) => under_way = Some((store, Ok(()))),
            Order::Write(part) => {
                if let Some((store, outcome @ Ok(()))) = &mut under_way {
                    *outcome = unbroken(&mut **store, |store| store.apply(&part));
                }
            }
            Order::End(ending, in_line) => {
                if let Some(done) = &mut under_way {
                    end(done, ending, &in_line, None);
                }
            }
            Order::EndAndStay(ending, in_line) => {
                let Some(done) = &mut under_way else { return };
                let cue = Arc::new(Cue::on(&desk.queue));
                let next = end_and_begin(done, ending, &in_line, &cue);
                if !desk.tell(Report::Next(next)) {
                    return;
                }
                cue.told();
            }
            Order::GiveBack => {
                if under_way.take().is_some_and(|done| !desk.tell(Report::Store(done))) {
                    return;
                }
            }
        }
    }
}

fn end((store, outcome): &mut Done, mut ending: Ending, in_line: &AtomicBool, cue: Option<&Arc<Cue>>) {
    ending.fault = ending.fault.or(outcome.clone().err());
    *outcome = unbroken(&mut **store, |store| ending.carry_out(store, in_line, cue));
    in_line.store(false, Ordering::SeqCst);
}

/// Ends a transaction and begins the next in its place. If either fails, nothing that rests on it is written.
fn end_and_begin(done: &mut Done, ending: Ending, in_line: &AtomicBool, cue: &Arc<Cue>) -> Result<Next> {
    let after = ending.after;
    end(done, ending, in_line, Some(cue));
    let (store, outcome) = done;
    let next = outcome.clone().and_then(|()| {
        unbroken(&mut **store, |store| {
            if store.begin_next()?.head == after {
                return Ok(Next { is_awaited: store.is_awaited() });
            }
            // Who writes to the file without standing in line.
            store.rollback();
            Err(Error::NotWritten(NOT_KEPT.to_owned()))
        })
    });
    next.map_err(rested).inspect_err(|error| *outcome = Err(error.clone()))
}

/// What is told to whoever was decided on what is not written, or not known to be, or after which the place was lost: of
/// theirs, nothing was written.
fn rested(error: Error) -> Error {
    match error {
        Error::NotWritten(why) => Error::NotWritten(why),
        Error::Unknown(why) => Error::NotWritten(format!("it rests on what is not certain: {why}")),
        error => error,
    }
}

/// Does something with the store, and says so if that breaks. What was begun ends there.
fn unbroken<T>(store: &mut dyn Store, work: impl FnOnce(&mut dyn Store) -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|panic| {
        let _ = catch_unwind(AssertUnwindSafe(|| store.rollback()));
        Err(Error::Unknown(format!("the writer broke off: {}", said(&*panic))))
    })
}
