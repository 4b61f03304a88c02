//! Work that was handed in, for those who have no thread to wait for it with.

use crate::error::{Error, Result};
use crate::ledger::{Ledger, lock};
use crate::queue::{Stub, Work};
use crate::rows::RowKey;
use crate::transaction::Transaction;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// Work that stands in line. It is done whether or not somebody waits for it, and answers once it is durable.
pub struct Pending<T> {
    stub: Result<Stub>,
    value: Arc<Mutex<Option<T>>>,
}

impl Ledger {
    /// Hands work in to be done in the write transaction, as [`Ledger::write_looking_at`] does, and does not wait for it.
    pub fn write_later<T: Send + 'static>(
        &self,
        looks_at: Vec<RowKey>,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Pending<T> {
        let value = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&value);
        let work: Work = Box::new(move |transaction: &mut Transaction<'_>| {
            let made = work(transaction)?;
            *lock(&kept) = Some(made);
            Ok(())
        });
        Pending { stub: self.line_up(work, looks_at), value }
    }

    /// Gives work up for which somebody has waited as long as the ledger's patience is, and says why. Nothing, if it was taken
    /// up already: then what becomes of it is worth waiting for once more.
    pub fn give_up<T>(&self, pending: &Pending<T>) -> Option<Error> {
        let stub = pending.stub.as_ref().ok()?;
        stub.give_up().then(|| self.busy())
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let outcome = match &self.stub {
            Err(error) => Err(error.clone()),
            Ok(stub) => match stub.poll(context) {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => return Poll::Pending,
            },
        };
        let made = lock(&self.value).take();
        Poll::Ready(outcome.and_then(|()| made.ok_or_else(|| Error::Broke("it left no answer".to_owned()))))
    }
}
