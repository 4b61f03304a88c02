//! Work that was handed in, and what it made.

use crate::error::{Error, Result};
use crate::ledger::lock;
use crate::queue::Work;
use crate::seat::Stub;
use crate::transaction::Transaction;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

/// Work that was handed in by somebody who has no thread to wait for it with. It answers once it is durable, and is done whether
/// or not somebody waits for that.
pub struct Pending<T> {
    pub(crate) made: Made<T>,
    pub(crate) stub: Stub,
}

impl<T> Pending<T> {
    /// Gives the work up, for which somebody has waited as long as the ledger's patience is. Says whether that could be done: if
    /// not, it was taken up already, and what becomes of it is worth waiting for once more.
    pub fn give_up(&self) -> bool {
        self.stub.give_up()
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let outcome = ready!(self.stub.poll(context));
        Poll::Ready(outcome.and_then(|()| self.made.take()))
    }
}

/// Work that keeps what it makes for whoever asked for it.
pub(crate) fn keeping<T: Send + 'static>(
    work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
) -> (Work, Made<T>) {
    let made = Made(Arc::new(Mutex::new(None)));
    let kept = Arc::clone(&made.0);
    let work = move |transaction: &mut Transaction<'_>| {
        let value = work(transaction)?;
        *lock(&kept) = Some(value);
        Ok(())
    };
    (Box::new(work), made)
}

/// What work has made.
pub(crate) struct Made<T>(Arc<Mutex<Option<T>>>);

impl<T> Made<T> {
    /// Gives it out, once.
    pub(crate) fn take(&self) -> Result<T> {
        lock(&self.0).take().ok_or_else(|| Error::Broke("it left no answer".to_owned()))
    }
}
