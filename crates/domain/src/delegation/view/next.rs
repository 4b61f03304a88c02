//! What the requester does next: its side of a delegation, as a state machine over what was answered.
//!
//! ```text
//!              ┌──────── retry ◀── FAILURE, allowed, and tried again less than three times
//! instruction ─┼──────── wait ◀─── BLOCKED, and it can clear: until it may be tried again, for a day at the longest
//!              ├──────── correct ◀ INVALID_REQUEST, and what is wrong is said
//!              ├─▶ proceed ◀────── SUCCESS
//!              └─▶ escalate ◀───── everything else: a person decides ──▶ retry, or abandon
//! ```
//!
//! To try again is to give a new instruction for the same end: who asks, where, what for and what to do are the same. How
//! often that was done is counted by the ledger, so that a requester which was killed goes on where it was.
//!
//! **Invariant:** nothing but `SUCCESS` lets a requester go on.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::payload::{InstructionId, Status};
use crate::delegation::row::{DelegationRow, EndRow, delegation_key, delegation_of, end_key, end_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, choice, shape};
use jiff::Timestamp;

/// How often something is tried again before a person is asked.
pub const RETRIES_MAX: u64 = 3;
/// How long a constraint is waited for before a person is asked, in milliseconds.
const WAIT_MS_MAX: i64 = 24 * 60 * 60 * 1000;
/// How long is waited where nobody says how long, in seconds.
const WAIT_SECONDS: u64 = 60;

choice! {
    /// What a requester does next.
    pub enum NextStep {
        /// There is no response yet: wait for it, or hand the instruction in again.
        Await = "await",
        /// It is done: go on.
        Proceed = "proceed",
        /// Do what the guidance says, and try again under a new id.
        Retry = "retry",
        /// A rule of the platform stands against it: wait until it clears, then try again under a new id.
        Wait = "wait",
        /// Correct what is wrong, and give it under a new id.
        Correct = "correct",
        /// Ask a person.
        Escalate = "escalate",
        /// A person has given it up: leave it.
        Abandon = "abandon",
    }
}

shape! {
    /// What the requester of an instruction does next.
    pub closed struct ShowNext {
        /// The instruction.
        pub instruction_id: InstructionId,
    }
}

shape! {
    /// What the requester of an instruction does next.
    pub struct NextShown {
        /// The instruction.
        pub instruction_id: String,
        /// What to do.
        pub step: NextStep,
        /// Why.
        pub reason: String,
        /// Not before this time, in milliseconds since 1970.
        pub not_before: Option<Int>,
        /// How many instructions were given for the same end.
        pub tries: Int,
    }
}

/// A step, why, and when at the earliest in milliseconds since 1970.
pub(crate) struct Next {
    pub(crate) step: NextStep,
    pub(crate) reason: String,
    pub(crate) not_before: Option<i64>,
}

fn after(step: NextStep, reason: String, not_before: Option<i64>) -> Next {
    Next { step, reason, not_before }
}

impl View for ShowNext {
    const INFO: ViewInfo =
        ViewInfo { id: "delegation.next", summary: "What the requester of an instruction does next" };
    type Shown = NextShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let key = delegation_key(self.instruction_id.as_str());
        let end = delegation_of(seen.so_far(&key)).map(|row| Need::Entity(end_key(&row.end)));
        end.into_iter().chain([Need::Entity(key)]).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<NextShown, Refusal> {
        let Some(row) = delegation_of(seen.so_far(&delegation_key(self.instruction_id.as_str()))) else {
            let reason = format!("instruction {} has not been received", self.instruction_id);
            let help = "hand it in with `countersign delegate`";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_absent());
        };
        let end = end_of(seen.so_far(&end_key(&row.end))).unwrap_or_default();
        let Next { step, reason, not_before } = next(&row, &end, moment.now_ms);
        let not_before = not_before.map(|at| at.unsigned_abs().into());
        Ok(NextShown { instruction_id: row.instruction_id, step, reason, not_before, tries: end.tries.into() })
    }
}

/// What the requester of an instruction does next.
pub(crate) fn next(row: &DelegationRow, end: &EndRow, now_ms: i64) -> Next {
    let Some(answered) = &row.answered else {
        return after(NextStep::Await, "there is no response yet".to_owned(), None);
    };
    if end.last != row.instruction_id && !end.last.is_empty() {
        return after(NextStep::Await, format!("it was tried again as {}, which counts", end.last), None);
    }
    match end.resolved.as_deref() {
        Some("retry") => return after(NextStep::Retry, "a person lets it be tried again".to_owned(), None),
        Some(_) => return after(NextStep::Abandon, "a person has given it up".to_owned(), None),
        None => {}
    }
    let milliseconds = |at: &str| at.parse::<Timestamp>().map_or(now_ms, Timestamp::as_millisecond);
    let not_before = |seconds: u64| milliseconds(&answered.at) + i64::try_from(seconds).unwrap_or(0) * 1000;
    match Status::parse(&answered.status) {
        Some(Status::Success) => after(NextStep::Proceed, "it is done".to_owned(), None),
        Some(Status::Failure) if !answered.retry_allowed => {
            after(NextStep::Escalate, "it failed, and to try again is not allowed".to_owned(), None)
        }
        Some(Status::Failure) if end.failures > RETRIES_MAX => {
            let reason = format!("it failed {} times, and was tried again as often as it may be", end.failures);
            after(NextStep::Escalate, reason, None)
        }
        Some(Status::Failure) => {
            let reason = format!("it failed, and may be tried again: {} of {RETRIES_MAX}", end.failures.max(1));
            after(NextStep::Retry, reason, Some(not_before(answered.retry_after.unwrap_or(0))))
        }
        Some(Status::Blocked) if !answered.retry_allowed => {
            after(NextStep::Escalate, "a rule of the platform forbids it, and that will not clear".to_owned(), None)
        }
        Some(Status::Blocked) => {
            let since = end.blocked_since.as_deref().map_or(now_ms, milliseconds);
            if now_ms - since > WAIT_MS_MAX {
                let reason = "a rule of the platform has forbidden it for a day".to_owned();
                return after(NextStep::Escalate, reason, None);
            }
            let reason = "a rule of the platform forbids it, and may clear".to_owned();
            after(NextStep::Wait, reason, Some(not_before(answered.retry_after.unwrap_or(WAIT_SECONDS))))
        }
        // Authority is not for the requester to correct.
        Some(Status::InvalidRequest) if row.lacks => {
            after(NextStep::Escalate, "it lacks authority, which a person gives".to_owned(), None)
        }
        Some(Status::InvalidRequest) => {
            after(NextStep::Correct, "it is wrong, and the response says where".to_owned(), None)
        }
        None => after(NextStep::Escalate, "what it was answered with is not known here".to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::row::AnsweredRow;

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn row(status: &str, retry_allowed: bool, retry_after: Option<u64>, lacks: bool) -> DelegationRow {
        let at = "1970-01-01T00:00:10Z".to_owned();
        let (error_type, duration_ms, audit_lag_ms) = (None, 1, 1);
        let status = status.to_owned();
        let answered =
            AnsweredRow { seq: 3, at, status, error_type, retry_allowed, retry_after, duration_ms, audit_lag_ms };
        DelegationRow { answered: Some(answered), lacks, instruction_id: "DI-1".to_owned(), ..DelegationRow::default() }
    }

    #[test]
    fn each_response_has_its_step() {
        let end = |failures: u64, last: &str| EndRow {
            tries: failures.max(1),
            failures,
            last: last.to_owned(),
            blocked_since: Some("1970-01-01T00:00:10Z".to_owned()),
            ..EndRow::default()
        };
        let decided = |what: &str| EndRow { resolved: Some(what.to_owned()), ..end(4, "DI-1") };
        let one = end(1, "DI-1");
        let cases = [
            (row("SUCCESS", false, None, false), &one, 0, NextStep::Proceed, None),
            (row("FAILURE", true, Some(30), false), &one, 0, NextStep::Retry, Some(40_000)),
            (row("FAILURE", true, None, false), &end(3, "DI-1"), 0, NextStep::Retry, Some(10_000)),
            (row("FAILURE", true, None, false), &end(4, "DI-1"), 0, NextStep::Escalate, None),
            (row("FAILURE", false, None, false), &one, 0, NextStep::Escalate, None),
            (row("BLOCKED", true, None, false), &one, 20_000, NextStep::Wait, Some(70_000)),
            (row("BLOCKED", true, None, false), &one, DAY + 10_001, NextStep::Escalate, None),
            (row("BLOCKED", false, None, false), &one, 0, NextStep::Escalate, None),
            (row("INVALID_REQUEST", false, None, false), &one, 0, NextStep::Correct, None),
            (row("INVALID_REQUEST", false, None, true), &one, 0, NextStep::Escalate, None),
            (row("FAILURE", true, None, false), &end(2, "DI-2"), 0, NextStep::Await, None),
            (row("FAILURE", false, None, false), &decided("retry"), 0, NextStep::Retry, None),
            (row("INVALID_REQUEST", false, None, true), &decided("abandon"), 0, NextStep::Abandon, None),
            (DelegationRow::default(), &one, 0, NextStep::Await, None),
            (row("SPLENDID", true, None, false), &one, 0, NextStep::Escalate, None),
        ];
        for (row, end, now, step, at) in cases {
            let Next { step: found, reason, not_before } = next(&row, end, now);
            assert_eq!((found, not_before), (step, at), "{row:?}: {reason}");
        }
    }
}
