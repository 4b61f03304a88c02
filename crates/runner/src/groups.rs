//! The process groups of agents and checks that run just now, so that whoever ends this process at once leaves none behind.
//!
//! **Invariant:** a group is known here only while its first process is ours to wait for: its number cannot be anybody else's.

use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// A group that is known. Dropped before its first process is waited for.
#[derive(Debug)]
pub(crate) struct Group(u32);

impl Group {
    /// The group of a process that was started as the first of its own.
    pub(crate) fn of(leader: u32) -> Self {
        groups().insert(leader);
        Self(leader)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        groups().remove(&self.0);
    }
}

/// Ends all of them for good, without asking first. Only for who ends this process right after it.
pub fn kill_all() {
    // While this is held, nobody lets go of one.
    for leader in groups().iter() {
        if let Some(group) = i32::try_from(*leader).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

fn groups() -> MutexGuard<'static, BTreeSet<u32>> {
    // A number is there or it is not.
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}
