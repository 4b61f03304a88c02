//! Chance that can be repeated: a test that fails says the seed it was thrown with.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr, reason = "tests; not each of them uses all of it")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const SEED: &str = "COUNTERSIGN_SEED";
const SOAK: &str = "COUNTERSIGN_SOAK";
const ROUNDS: &str = "COUNTERSIGN_ROUNDS";

/// The numbers that follow from a seed (splitmix64). When a test fails while it holds them, the seed is told.
pub struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    /// From the environment, else from the clock.
    pub fn thrown() -> Self {
        let given = std::env::var(SEED).ok().map(|it| it.parse().unwrap());
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        Self::of(given.unwrap_or_else(clock))
    }

    /// From a seed.
    pub fn of(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below another one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// One of some.
    pub fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.below(some.len() as u64) as usize]
    }
}

impl Drop for Dice {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat it: {SEED}={}", self.seed);
        }
    }
}

/// The seed that was asked for.
pub fn seed_asked() -> Option<u64> {
    std::env::var(SEED).ok().map(|it| it.parse().unwrap())
}

/// How long a soak was asked for.
pub fn soak() -> Option<Duration> {
    let minutes: f64 = std::env::var(SOAK).ok()?.parse().unwrap();
    Some(Duration::from_secs_f64(minutes * 60.0))
}

/// How often something is done: so many times, as often as was asked for, or as long as a soak lasts.
pub struct Rounds {
    done: u64,
    most: u64,
    until: Option<Instant>,
    /// When it is said next how far it has come, if that was asked for.
    tell: Option<Instant>,
}

/// How often it is said how far a test has come.
const TELL_EVERY: Duration = Duration::from_secs(10);

impl Rounds {
    pub fn of(short: u64) -> Self {
        let asked = std::env::var(ROUNDS).ok().map(|it| it.parse::<u64>().unwrap());
        let until = soak().filter(|_| asked.is_none()).map(|it| Instant::now() + it);
        Self { done: 0, most: asked.unwrap_or(short), until, tell: asked.map(|_| Instant::now() + TELL_EVERY) }
    }

    pub fn done(&self) -> u64 {
        self.done
    }
}

impl Iterator for Rounds {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let more = match self.until {
            Some(until) => Instant::now() < until,
            None => self.done < self.most,
        };
        if self.tell.is_some_and(|it| Instant::now() >= it) {
            eprintln!("{} of {} rounds", self.done, self.most);
            self.tell = Some(Instant::now() + TELL_EVERY);
        }
        self.done += u64::from(more);
        more.then_some(self.done - 1)
    }
}

/// What a soak is asked to print at its end, in a form that `cargo xtask soak` collects.
pub fn count(what: &str, number: u64) {
    eprintln!("count: {number} {what}");
}
