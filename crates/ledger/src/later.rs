//! Work that was handed in, for those who have no thread to wait for it with.

use crate::error::Result;
use crate::ledger::{Ledger, keeping, lock};
use crate::queue::Stub;
use crate::rows::RowKey;
use crate::transaction::Transaction;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

/// Work that was handed in. It is done whether or not somebody waits for it, and answers once it is durable.
pub struct Pending<T> {
    answer: Arc<Answer<T>>,
    /// Its place in the line; none, if it did not have to stand there.
    stub: Option<Stub>,
}

/// What came of it, and who waits for that.
struct Answer<T>(Mutex<(Option<Result<T>>, Option<Waker>)>);

impl<T> Answer<T> {
    fn tell(&self, came: Result<T>) {
        let mut state = lock(&self.0);
        state.0 = Some(came);
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Ledger {
    /// Has work done in the write transaction, as [`Ledger::write_looking_at`] does, and does not wait for others: if there
    /// are any, it stands in line, and is done whoever waits for it. This thread may be kept by the disk.
    pub fn write_later<T: Send + 'static>(
        &self,
        looks_at: Vec<RowKey>,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Pending<T> {
        let answer = Arc::new(Answer(Mutex::new((None, None))));
        let (work, made) = keeping(work);
        let stub = match self.alone(work) {
            Ok(outcome) => {
                answer.tell(outcome.and_then(|()| made.take()));
                None
            }
            Err(work) => {
                let told = Arc::clone(&answer);
                let tell = move |outcome: Result<()>| told.tell(outcome.and_then(|()| made.take()));
                self.line_up(work, looks_at, Some(Box::new(tell))).map_err(|error| answer.tell(Err(error))).ok()
            }
        };
        Pending { answer, stub }
    }
}

impl<T> Pending<T> {
    /// Gives the work up, for which somebody has waited as long as the ledger's patience is. Says whether that could be done: if
    /// not, it was taken up already, and what becomes of it is worth waiting for once more.
    pub fn give_up(&self) -> bool {
        self.stub.as_ref().is_some_and(Stub::give_up)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let mut state = lock(&self.answer.0);
        match state.0.take() {
            Some(came) => Poll::Ready(came),
            None => {
                state.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
