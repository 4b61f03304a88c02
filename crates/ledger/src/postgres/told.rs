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
    /// The server has said it.
    pub(super) fn now_is(&self, time: Time) {
        *lock(&self.0) = Some((Instant::now(), time));
    }

    /// Nothing, if it has never said it, or nobody could write it down.
    pub(super) fn now(&self) -> Option<Time> {
        let (when, time) = (*lock(&self.0))?;
        let since = i64::try_from(when.elapsed().as_millis()).ok()?;
        Time::shown(time.0.checked_add(since)?).ok()
    }
}
