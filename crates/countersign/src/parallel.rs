//! Work on all cores, with the results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// How far, for each core, work may run ahead of the result that is waited for.
const AHEAD: usize = 16;

/// Does `work` for each number below `count` on all cores, and hands the results to `take` in order. Behind a slow one
/// no more than a window of finished results piles up: a number is begun only when it lies within the window.
pub fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync, take: impl FnMut(T)) {
    // How many cores there are is a question of several files, which one document is not worth.
    let cores = if count > 1 { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    on_cores(cores.min(count), count, work, take);
}

/// The same, with the results in a list.
pub fn all<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut all = Vec::with_capacity(count);
    each(count, work, |done| all.push(done));
    all
}

fn on_cores<T: Send>(cores: usize, count: usize, work: impl Fn(usize) -> T + Sync, mut take: impl FnMut(T)) {
    if cores <= 1 {
        (0..count).for_each(|number| take(work(number)));
        return;
    }
    let next = AtomicUsize::new(0);
    let gate = Gate::new(cores * AHEAD);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let (sender, next, gate, work) = (sender.clone(), &next, &gate, &work);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    gate.wait_for(number);
                    if sender.send((number, work(number))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        for (number, done) in receiver {
            waiting.insert(number, done);
            while let Some(done) = waiting.remove(&turn) {
                take(done);
                turn += 1;
            }
            gate.open_to(turn);
        }
    });
}

/// Lets numbers pass that are less than `window` ahead of the turn. The number whose turn it is always passes, so that
/// nobody waits for ever.
struct Gate {
    turn: Mutex<usize>,
    moved: Condvar,
    window: usize,
}

impl Gate {
    fn new(window: usize) -> Self {
        Self { turn: Mutex::new(0), moved: Condvar::new(), window }
    }

    fn wait_for(&self, number: usize) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = |turn: &mut usize| number >= *turn + self.window;
        drop(self.moved.wait_while(turn, ahead).unwrap_or_else(PoisonError::into_inner));
    }

    fn open_to(&self, turn: usize) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn behind_a_slow_first_one_no_more_than_a_window_piles_up() {
        let begun = AtomicUsize::new(0);
        let mut ahead = None;
        let work = |number: usize| {
            begun.fetch_max(number, Ordering::SeqCst);
            if number == 0 {
                std::thread::sleep(Duration::from_millis(200));
            }
            (number, begun.load(Ordering::SeqCst))
        };
        let mut order = Vec::new();
        on_cores(4, 10_000, work, |(number, begun)| {
            ahead.get_or_insert(begun);
            order.push(number);
        });
        assert!(order.iter().copied().eq(0..10_000));
        assert!(ahead.is_some_and(|ahead| ahead < 4 * AHEAD), "{ahead:?}");
    }
}
