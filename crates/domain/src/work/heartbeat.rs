//! Signs of life: how often they come, and when one cannot be true.

use countersign_contract::diagnostic::{Pointer, Repair};
use countersign_contract::{Report, Timestamp};
use jiff::SignedDuration;

/// How far ahead of ours another clock may be.
const AHEAD_MAX: SignedDuration = SignedDuration::from_secs(30);

/// Reports an interval that is not below the timeout, of the task or row that stands at `holder`.
pub(crate) fn check_interval(timeout: i64, interval: i64, holder: impl FnOnce() -> Pointer, report: &mut Report) {
    if interval < timeout {
        return;
    }
    let holder = holder();
    let bound = report.place(holder.clone().key("timeout_seconds"));
    let message = format!("a sign of life every {interval} s comes too late for a timeout of {timeout} s");
    let help = "give one at least twice within the timeout";
    let found = report.add(holder.key("heartbeat_interval_seconds"), message, help);
    let pointer = found.pointer.clone();
    let repair = Repair::replace(pointer, timeout / 2, "set the heartbeat to half of the timeout");
    found.label(bound, "the timeout").repair(repair);
}

/// Reports a sign of life from the future.
pub(crate) fn check_past(
    heartbeat: Option<&Timestamp>,
    now: Option<jiff::Timestamp>,
    pointer: impl FnOnce() -> Pointer,
    report: &mut Report,
) {
    let (Some(heartbeat), Some(now)) = (heartbeat, now) else { return };
    let ahead = heartbeat.instant().duration_since(now);
    if ahead > AHEAD_MAX {
        let message = format!("the last sign of life lies {} s in the future", ahead.as_secs());
        report.add(pointer(), message, "write when it really came; check the clocks of both machines");
    }
}
