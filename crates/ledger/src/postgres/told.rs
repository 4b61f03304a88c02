//! What time it is for the server, as far as that follows from what it said last: who decides while something is written cannot
//! ask for it, and the time of this machine may be another one.

use crate::ledger::lock;
use crate::time::Time;
use std::sync::Mutex;
use std::time::Instant;

/// Shared by the handles of a store.
#[derive(Default)]
pub(super) struct Told(Mutex<Option<(Instant, Time)>>);

impl Told {
    /// The server has said it, some time ago: as long as the answer took. What was said faster is nearer to the truth, so that time
    /// does not go back by that; what differs by more was set.
    pub(super) fn now_is(&self, time: Time) {
        const JOURNEY_MAX_MS: i64 = 100;
        let ahead = self.now().map_or(0, |now| now.0.saturating_sub(time.0));
        if !(1..=JOURNEY_MAX_MS).contains(&ahead) {
            *lock(&self.0) = Some((Instant::now(), time));
        }
    }

    /// Nothing, if it has never said it, or nobody could write it down.
    pub(super) fn now(&self) -> Option<Time> {
        let (when, time) = (*lock(&self.0))?;
        let since = i64::try_from(when.elapsed().as_millis()).ok()?;
        Time::shown(time.0.checked_add(since)?).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_does_not_set_time_back_and_a_clock_that_was_set_does() {
        let told = Told::default();
        assert_eq!(told.now(), None);
        told.now_is(Time(1_000_000));
        told.now_is(Time(999_950));
        assert!(told.now().unwrap() >= Time(1_000_000));
        told.now_is(Time(500_000));
        assert!(told.now().unwrap() < Time(1_000_000));
        told.now_is(Time(2_000_000));
        assert!(told.now().unwrap() >= Time(2_000_000));
    }
}
