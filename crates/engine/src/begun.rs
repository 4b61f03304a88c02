//! A command between its beginning and its answer, for those who have no thread to wait with.
//!
//! ```text
//! begin (may block) ─▶ Begun ─wait─▶ reply (reads, where it was done before)
//! ```
//!
//! **Invariant:** it has an end: what is not taken up in time is given up, and never done.

use crate::Engine;
use crate::call::{Failure, Reply};
use crate::road::{Finish, Outcome, Prepared};
use countersign_ledger as ledger;
use ledger::{Error, Pending};
use serde_json::Value;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::Poll;

/// A command that was taken up, and is done whether or not somebody waits for it.
pub struct Begun {
    pending: Pending<Outcome>,
    finish: Finish<Value>,
}

/// A command that has come to its end, whatever that is.
pub struct Ended {
    end: End,
    finish: Finish<Value>,
}

enum End {
    Answered(ledger::Result<Outcome>),
    /// It did not get the writer's place in time.
    GivenUp,
    /// It was taken up, and nobody knows what became of it.
    Unknown,
}

impl Begun {
    pub(crate) fn of(engine: &Engine, prepared: Prepared<Value>) -> ledger::Result<Self> {
        let Prepared { looks_at, work, finish } = prepared;
        Ok(Self { pending: engine.ledger.write_later(looks_at, work)?, finish })
    }

    /// Waits until what came of it is durable, and for no longer than `patience` lasts, or twice that where it was taken up.
    pub async fn ended<W: Future>(mut self, patience: impl Fn() -> W) -> Ended {
        let end = match first(&mut self.pending, patience()).await {
            Some(outcome) => End::Answered(outcome),
            None if self.pending.give_up() => End::GivenUp,
            // What becomes of it is worth waiting for once more.
            None => first(&mut self.pending, patience()).await.map_or(End::Unknown, End::Answered),
        };
        Ended { end, finish: self.finish }
    }
}

impl Ended {
    /// What is answered. What was done before under the same key is read here.
    pub fn reply(self, engine: &Engine) -> Result<Reply, Failure> {
        match self.end {
            End::Answered(came) => engine.finish(self.finish, came),
            End::GivenUp => Err(engine.ledger.busy().into()),
            End::Unknown => Err(Error::Unknown("the commit has not returned".to_owned()).into()),
        }
    }
}

/// What comes of something, unless something else ends first.
async fn first<P: Future + Unpin>(pending: &mut P, wait: impl Future) -> Option<P::Output> {
    let mut wait = pin!(wait);
    std::future::poll_fn(|context| match Pin::new(&mut *pending).poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending => wait.as_mut().poll(context).map(|_| None),
    })
    .await
}
