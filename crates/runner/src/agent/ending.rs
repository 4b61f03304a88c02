//! Ending an agent and everything that it started: politely, and then for good.

use super::processes::{self, Family, Process};
use rustix::process::{Pid, Signal, kill_process_group};
use std::time::{Duration, Instant};

/// How long is waited for processes that cannot refuse to end.
const SURE: Duration = Duration::from_secs(3);
/// How long is waited between looks, at first and at most.
const PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(40));

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// How many processes were there to be ended.
    pub(super) found: usize,
    /// How many of them are still there.
    pub(super) left: usize,
}

/// Asks every process of an attempt to end, and ends those that have not after the grace. Nothing is signalled where
/// there is nothing.
pub(super) fn end(family: &Family, grace: Duration) -> Outcome {
    let Some(members) = processes::members(family) else { return end_group(family, grace) };
    if members.is_empty() {
        return Outcome::default();
    }
    let mut seen: Vec<u32> = members.iter().map(|it| it.pid).collect();
    signal(family, &members, Signal::TERM);
    let mut left = settle(family, grace, &mut |_| {});
    if !left.is_empty() {
        left = settle(family, SURE, &mut |members| {
            seen.extend(members.iter().map(|it| it.pid));
            signal(family, members, Signal::KILL);
        });
    }
    seen.sort_unstable();
    seen.dedup();
    Outcome { found: seen.len(), left: left.len() }
}

/// Looks again until nobody is left or the time is over. Gives who is left.
fn settle(family: &Family, within: Duration, each: &mut dyn FnMut(&[Process])) -> Vec<Process> {
    let until = Instant::now() + within;
    let mut pause = PAUSE.0;
    loop {
        let members = processes::members(family).unwrap_or_default();
        if members.is_empty() || Instant::now() >= until {
            return members;
        }
        each(&members);
        std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
        pause = (pause * 2).min(PAUSE.1);
    }
}

/// The group at once, so that nobody in it can outrun the signal; then each process by itself.
fn signal(family: &Family, members: &[Process], signal: Signal) {
    let leader = members.iter().any(|it| it.pid == family.leader);
    if (family.is_held || leader)
        && let Some(group) = pid(family.leader)
    {
        let _ = kill_process_group(group, signal);
    }
    for member in members {
        send(member, signal);
    }
}

/// Signals one process through a handle that can mean no other: it is taken first, and the process looked at again.
#[cfg(target_os = "linux")]
fn send(member: &Process, signal: Signal) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(pid) = pid(member.pid) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if processes::process(member.pid).is_some_and(|now| now.since == member.since) {
        let _ = pidfd_send_signal(handle, signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn send(_: &Process, _: Signal) {}

/// Where processes cannot be listed: the group alone, as long as its first process is ours to wait for.
fn end_group(family: &Family, grace: Duration) -> Outcome {
    let Some(group) = pid(family.leader).filter(|_| family.is_held) else { return Outcome::default() };
    let is_over = || {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        !matches!(waitid(WaitId::Pid(group), options), Ok(None))
    };
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + grace;
    while !is_over() && Instant::now() < until {
        std::thread::sleep(PAUSE.1);
    }
    let _ = kill_process_group(group, Signal::KILL);
    Outcome { found: 1, left: 0 }
}

fn pid(raw: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(raw).ok()?)
}
