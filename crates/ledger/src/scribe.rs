//! The scribe: a thread that writes what the first commands of a commit came to, while the others are decided, and then
//! commits and answers them.
//!
//! It waits where it is told to write, and so is at work at once: a thread that is started for each commit begins behind all
//! whom the last commit woke, and that takes as long as to write.

use crate::deciding::said;
use crate::ending::Ending;
use crate::error::{Error, Result};
use crate::store::{Batch, Store};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The thread. It ends when this is dropped.
pub(crate) struct Scribe {
    orders: Sender<Order>,
    done: Receiver<Done>,
    /// Whether it has a store.
    pub(crate) is_busy: bool,
}

/// What it is told, one after the other.
enum Order {
    /// In this transaction it writes from now on.
    Take(Box<dyn Store>),
    Write(Arc<Batch>),
    /// That ends it, and the store is given back. The writer may have to stand in line for it once more.
    End(Ending, Arc<AtomicBool>),
    GiveBack,
}

/// The store, and what came of writing to it.
type Done = (Box<dyn Store>, Result<()>);

impl Scribe {
    /// Starts the thread, if one can be had.
    pub(crate) fn start() -> Option<Self> {
        let (orders, ordered) = channel();
        let (give, done) = channel();
        let work = move || carry_out(&ordered, &give);
        std::thread::Builder::new().name("ledger-scribe".to_owned()).spawn(work).ok()?;
        Some(Self { orders, done, is_busy: false })
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

    /// Waits until everything is done, and takes the store back; nothing, if the thread is gone.
    pub(crate) fn give_back(&mut self) -> Option<Done> {
        self.is_busy = false;
        self.orders.send(Order::GiveBack).ok()?;
        self.done.recv().ok()
    }
}

fn carry_out(ordered: &Receiver<Order>, give: &Sender<Done>) {
    let mut under_way: Option<Done> = None;
    while let Ok(order) = ordered.recv() {
        match order {
            Order::Take(store) => under_way = Some((store, Ok(()))),
            Order::Write(part) => {
                if let Some((store, outcome @ Ok(()))) = &mut under_way {
                    *outcome = unbroken(&mut **store, |store| store.apply(&part));
                }
            }
            Order::End(mut ending, in_line) => {
                if let Some((store, outcome)) = &mut under_way {
                    ending.fault = ending.fault.or(outcome.clone().err());
                    *outcome = unbroken(&mut **store, |store| ending.carry_out(store, &in_line));
                    in_line.store(false, Ordering::SeqCst);
                }
            }
            Order::GiveBack => {
                if under_way.take().is_some_and(|done| give.send(done).is_err()) {
                    return;
                }
            }
        }
    }
}

/// Does something with the store, and says so if that breaks. What was begun ends there.
fn unbroken(store: &mut dyn Store, work: impl FnOnce(&mut dyn Store) -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|panic| {
        let _ = catch_unwind(AssertUnwindSafe(|| store.rollback()));
        Err(Error::Unknown(format!("the writer broke off: {}", said(&*panic))))
    })
}
