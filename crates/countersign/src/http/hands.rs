//! Hands for what may block: a few threads work through whatever is there.
//!
//! A thread for each piece of work would be woken for each, and with many clients that costs more than what they ask for. So a
//! few go on as long as there is something to do. Where they are kept, by a program, a disk or another machine, more are called:
//! one whenever nothing was begun for a moment although something waits.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// For how long those at work may be kept before another is called.
const STALLED: Duration = Duration::from_millis(2);

type Work = Box<dyn FnOnce() + Send>;

/// The hands of a server.
pub struct Hands {
    line: Arc<Mutex<Line>>,
    /// How many are called without delay.
    few: usize,
}

#[derive(Default)]
struct Line {
    waiting: VecDeque<Work>,
    /// How many are at work.
    working: usize,
    /// How much was begun so far.
    begun: u64,
    /// Whether somebody looks after those who are kept.
    is_watched: bool,
}

impl Hands {
    /// As many as there are cores, and more where those are kept.
    pub fn new() -> Self {
        let few = std::thread::available_parallelism().map_or(1, usize::from);
        Self { line: Arc::default(), few }
    }

    /// Has something done, whether or not anybody waits for it. Nothing, if it broke.
    pub async fn lend<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (tell, told) = oneshot::channel();
        self.take(Box::new(move || {
            if let Ok(done) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = tell.send(done);
            }
        }));
        told.await.ok()
    }

    fn take(&self, work: Work) {
        let mut line = lock(&self.line);
        line.waiting.push_back(work);
        if line.working < self.few {
            line.working += 1;
            drop(line);
            call(&self.line);
        } else if !line.is_watched {
            line.is_watched = true;
            drop(line);
            tokio::spawn(watch(Arc::clone(&self.line)));
        }
    }
}

/// Calls one more, who was counted already.
fn call(line: &Arc<Mutex<Line>>) {
    let line = Arc::clone(line);
    Handle::current().spawn_blocking(move || {
        while let Some(work) = next(&line) {
            work();
        }
    });
}

/// What is to be done next; nothing, if whoever asks can go.
fn next(line: &Mutex<Line>) -> Option<Work> {
    let mut line = lock(line);
    let work = line.waiting.pop_front();
    match work {
        Some(_) => line.begun += 1,
        None => line.working -= 1,
    }
    work
}

/// Calls one more whenever nothing was begun for a moment, until nothing waits.
async fn watch(line: Arc<Mutex<Line>>) {
    let mut before = lock(&line).begun;
    loop {
        tokio::time::sleep(STALLED).await;
        let mut now = lock(&line);
        if now.waiting.is_empty() {
            now.is_watched = false;
            return;
        }
        if now.begun == before {
            now.working += 1;
            drop(now);
            call(&line);
        } else {
            before = now.begun;
        }
    }
}

fn lock(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
    use super::*;
    use std::sync::mpsc::channel;

    fn with_hands<T>(few: usize, test: impl AsyncFnOnce(&Hands) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(test(&Hands { line: Arc::default(), few }))
    }

    #[test]
    fn whoever_is_kept_keeps_nobody_else() {
        with_hands(2, async |hands| {
            let (go, gone) = channel::<()>();
            let gone = Arc::new(Mutex::new(gone));
            // Each of them waits for the last, and there are more of them than are called without delay.
            let kept = (0..6).map(|n| {
                let gone = Arc::clone(&gone);
                hands.lend(move || gone.lock().unwrap().recv().map(|()| n))
            });
            let last = hands.lend(move || (0..6).for_each(|_| go.send(()).unwrap()));
            let (kept, last) = tokio::join!(futures_util::future::join_all(kept), last);
            assert_eq!((kept.len(), last), (6, Some(())));
            assert!(kept.into_iter().enumerate().all(|(n, it)| it == Some(Ok(n))));
        });
    }

    #[test]
    fn what_breaks_is_said_so_and_the_next_is_done() {
        with_hands(1, async |hands| {
            assert_eq!(hands.lend(|| -> u8 { panic!("it breaks") }).await, None);
            assert_eq!(hands.lend(|| 7).await, Some(7));
        });
    }

    #[test]
    fn what_was_handed_in_is_done_though_nobody_waits_for_it() {
        with_hands(1, async |hands| {
            let (tell, told) = channel();
            drop(futures_util::FutureExt::now_or_never(hands.lend(move || tell.send(7).unwrap())));
            assert_eq!(told.recv_timeout(Duration::from_secs(60)), Ok(7));
        });
    }
}
