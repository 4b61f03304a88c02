//! The scribe: a thread that writes what was decided, while the writer decides what comes next.
//!
//! It waits where it is told to write, and so is at work at once. A thread that is started for each commit begins behind all
//! whom the last commit woke, which takes as long as to write.

use crate::deciding::Decided;
use crate::error::Result;
use crate::store::{Batch, Head, Store};
use crate::writer::commit;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// The thread. It ends when this is dropped.
pub(crate) struct Scribe {
    orders: SyncSender<Order>,
    done: Receiver<Done>,
}

/// What is to be written, and where: a transaction was begun there.
struct Order {
    store: Box<dyn Store>,
    batch: Arc<Batch>,
    ends: (Head, Head),
}

/// The handle on the store, what came of writing to it, and how long that took.
type Done = (Box<dyn Store>, Result<()>, Duration);

impl Scribe {
    /// Starts the thread, if one can be had.
    pub(crate) fn start(in_line: &Arc<AtomicBool>) -> Option<Self> {
        let (orders, ordered) = sync_channel::<Order>(1);
        let (give, done) = sync_channel(1);
        let in_line = Arc::clone(in_line);
        let work = move || {
            for Order { mut store, batch, ends } in ordered {
                let started = Instant::now();
                let outcome = commit(&mut *store, &in_line, &batch, ends);
                store.settle();
                // Whoever takes the handle back is to have the batch for itself.
                drop(batch);
                if give.send((store, outcome, started.elapsed())).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("ledger-commit".to_owned()).spawn(work).ok()?;
        Some(Self { orders, done })
    }

    /// Has something written. If the thread is gone, the handle is given back.
    pub(crate) fn hand_over(
        &self,
        store: Box<dyn Store>,
        decided: &Decided,
    ) -> std::result::Result<(), Box<dyn Store>> {
        let order = Order { store, batch: Arc::clone(&decided.batch), ends: (decided.before, decided.after) };
        self.orders.send(order).map_err(|SendError(order)| order.store)
    }

    /// Waits until it is written; nothing, if the thread broke.
    pub(crate) fn take_back(&self) -> Option<Done> {
        self.done.recv().ok()
    }
}
