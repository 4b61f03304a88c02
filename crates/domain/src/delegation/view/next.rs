//! What the requester does next: its side of a delegation, as a state machine over what was answered.
//!
//! ```text
//!              ┌──────── retry ◀── FAILURE, allowed, and tried again less than three times
//! instruction ─┼──────── wait ◀─── BLOCKED, and it can clear: until it was seen to have, for a day at the longest ──▶ retry
//!              ├──────── correct ◀ INVALID_REQUEST, and what is wrong is said; three times in a row
//!              ├──────── verify ◀─ SUCCESS, and nobody has looked yet
//!              ├─▶ proceed ◀────── SUCCESS, and it was seen to be there
//!              └─▶ escalate ◀───── everything else: a person decides ──▶ retry, or abandon
//! ```
//!
//! To try again is to give a new instruction for the same end: who asks, where, what for and what to do are the same. How
//! often that was done is counted by the ledger, so that a requester which was killed goes on where it was.
//!
//! **Invariant:** nothing but a `SUCCESS` that was looked at lets a requester go on.
//! **Invariant:** a constraint is looked at until it has cleared; what it forbids is not tried to find out.

use crate::deciding::{Moment, Need, Refusal, Seen, Tree, View, ViewInfo};
use crate::delegation::command::chain;
use crate::delegation::payload::{InstructionId, Status};
use crate::delegation::row::{DelegationRow, EndRow, delegation_key, delegation_of, end_key, end_of};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Untrusted, choice, shape};
use jiff::Timestamp;
use serde_json::Value;

/// How often something is tried again before a person is asked.
pub const RETRIES_MAX: u64 = 3;
/// How often something may be wrong, one after the other, before a person is asked: the first, and as many corrections as
/// there are retries.
const INVALID_MAX: u64 = RETRIES_MAX + 1;
/// How long a constraint is waited for before a person is asked, in milliseconds.
const WAIT_MS_MAX: i64 = 24 * 60 * 60 * 1000;
/// How long is waited where nobody says how long, in seconds.
const WAIT_SECONDS: u64 = 60;

choice! {
    /// What a requester does next.
    pub enum NextStep {
        /// There is no response yet: wait for it, or hand the instruction in again.
        Await = "await",
        /// It was answered with success, and nobody has looked whether it is there: hand it in again, which looks.
        Verify = "verify",
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
        /// What tells that it worked, as the instruction says. What the platform showed is compared with the parameters; these
        /// words are for the requester.
        pub success_criteria: Option<Untrusted<String>>,
        /// What the requester does if it did not, as the instruction says.
        pub failure_handling: Option<Untrusted<String>>,
        /// Where it is, as the response says.
        pub resource_url: Option<Untrusted<String>>,
        /// What was seen there, or of what stands against it.
        pub seen: Option<Untrusted<String>>,
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
        let mut needs = vec![Need::Entity(key.clone())];
        if let Some(row) = delegation_of(seen.so_far(&key)) {
            let ends = [Some(&row.end), row.concern.as_ref()].into_iter().flatten();
            needs.extend(ends.map(|end| Need::Entity(end_key(end))));
            let answered = row.answered.as_ref().map(|it| it.seq);
            needs.extend([Some(row.received), answered, observed(&row)].into_iter().flatten().map(Need::Texts));
        }
        needs
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<NextShown, Refusal> {
        let Some(row) = delegation_of(seen.so_far(&delegation_key(self.instruction_id.as_str()))) else {
            let reason = format!("instruction {} has not been received", self.instruction_id);
            let help = "hand it in with `countersign delegate`";
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_absent());
        };
        let end = end_of(seen.so_far(&end_key(&row.end))).unwrap_or_default();
        let Next { step, reason, not_before } = next(&row, &end, chain::wrong(seen, &row), moment.now_ms);
        let part = |seq: Option<u64>, pointer: &str| {
            let text = seq.and_then(|seq| seen.text(seq, 0))?;
            let value: Value = text.inspect(|text| serde_json::from_str(text).ok())?;
            value.pointer(pointer).and_then(Value::as_str).map(|text| Untrusted::new(text.to_owned()))
        };
        let answered = row.answered.as_ref().map(|it| it.seq);
        Ok(NextShown {
            step,
            reason,
            not_before: not_before.map(|at| at.unsigned_abs().into()),
            tries: end.tries.into(),
            success_criteria: part(Some(row.received), "/EXPECTED_OUTCOME/SUCCESS_CRITERIA"),
            failure_handling: part(Some(row.received), "/EXPECTED_OUTCOME/FAILURE_HANDLING"),
            resource_url: part(answered, "/PLATFORM_EVIDENCE/RESOURCE_URL"),
            seen: observed(&row).and_then(|seq| seen.text(seq, 0).cloned()),
            instruction_id: row.instruction_id,
        })
    }
}

/// The event with what was last seen of it.
fn observed(row: &DelegationRow) -> Option<u64> {
    row.found.as_ref().or(row.barred.as_ref()).map(|seen| seen.seq)
}

/// How an instruction, and what it corrects, was wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wrong {
    /// How often, one after the other.
    times: u64,
    /// Whether authority was lacking, and no person has decided about that.
    lacked: bool,
    /// Whether it is this one that lacked it, and that everything of the kind waits for.
    pub(crate) holds: bool,
}

impl Wrong {
    /// The same of all that has a concern in common.
    pub(crate) fn of(concern: &EndRow) -> Self {
        Self { times: concern.invalid, lacked: concern.lacking.is_some(), holds: false }
    }

    /// Why correcting it is not for its requester, if it is not.
    pub(crate) fn needs_a_person(self) -> Option<String> {
        if self.lacked {
            return Some("what was asked for lacks authority, which a person gives".to_owned());
        }
        let often = (self.times >= INVALID_MAX).then_some(self.times)?;
        Some(format!("what was asked for was wrong {often} times in a row, so that correcting it is not clear"))
    }
}

/// What the requester of an instruction does next.
pub(crate) fn next(row: &DelegationRow, end: &EndRow, wrong: Wrong, now_ms: i64) -> Next {
    let Some(answered) = &row.answered else {
        return after(NextStep::Await, "there is no response yet".to_owned(), None);
    };
    let is_last = end.last == row.instruction_id || end.last.is_empty();
    if !is_last && !wrong.holds {
        return after(NextStep::Await, format!("it was tried again as {}, which counts", end.last), None);
    }
    match end.resolved.as_deref().filter(|_| is_last) {
        Some("retry") => return after(NextStep::Retry, "a person lets it be tried again".to_owned(), None),
        Some(_) => return after(NextStep::Abandon, "a person has given it up".to_owned(), None),
        None => {}
    }
    let milliseconds = |at: &str| at.parse::<Timestamp>().map_or(now_ms, Timestamp::as_millisecond);
    let not_before = |seconds: u64| milliseconds(&answered.at) + i64::try_from(seconds).unwrap_or(0) * 1000;
    match Status::parse(&answered.status) {
        Some(Status::Success) => match row.found.as_ref().map(|found| found.holds) {
            Some(true) => after(NextStep::Proceed, "it is done, and was seen to be".to_owned(), None),
            Some(false) => {
                let reason = "it was answered with success, and is not there as it was asked for".to_owned();
                after(NextStep::Escalate, reason, None)
            }
            None => after(NextStep::Verify, "nobody has looked yet whether it is there".to_owned(), None),
        },
        Some(Status::Failure) if !answered.retry_allowed => {
            let reason = match row.doubt() {
                Some("unknown") => "nobody knows whether it was done, and a person must look at the platform first",
                Some("part") => "a part of it was done and the rest failed, and to try again is not allowed",
                _ => "it failed, and to try again is not allowed",
            };
            after(NextStep::Escalate, reason.to_owned(), None)
        }
        Some(Status::Failure) if end.failures > RETRIES_MAX => {
            let reason = format!("it failed {} times, and was tried again as often as it may be", end.failures);
            after(NextStep::Escalate, reason, None)
        }
        Some(Status::Failure) => {
            let why = match row.doubt() {
                Some("unknown") => "nobody knows whether it was done, and to do it twice changes nothing, so it",
                _ => "it failed, and",
            };
            let reason = format!("{why} may be tried again: {} of {RETRIES_MAX}", end.failures.max(1));
            after(NextStep::Retry, reason, Some(not_before(answered.retry_after.unwrap_or(0))))
        }
        Some(Status::Blocked) if !answered.retry_allowed => {
            let reason = match row.doubt() {
                Some("part") => "a part of it was done, and a rule of the platform forbids the rest",
                _ => "a rule of the platform forbids it, and that will not clear",
            };
            after(NextStep::Escalate, reason.to_owned(), None)
        }
        Some(Status::Blocked) => {
            let barred = row.barred.as_ref();
            if barred.is_some_and(|barred| !barred.holds) {
                return after(NextStep::Retry, "what stood against it was seen to be gone".to_owned(), None);
            }
            let since = end.blocked_since.as_deref().map_or(now_ms, milliseconds);
            if now_ms - since > WAIT_MS_MAX {
                let reason = "a rule of the platform has forbidden it for a day".to_owned();
                return after(NextStep::Escalate, reason, None);
            }
            // Whoever looked a moment ago need not look again yet.
            let wait = answered.retry_after.unwrap_or(WAIT_SECONDS);
            let looked = barred.map(|it| milliseconds(&it.at) + i64::try_from(WAIT_SECONDS).unwrap_or(0) * 1000);
            let reason = match barred {
                Some(_) => "a rule of the platform forbids it, and still did when somebody looked".to_owned(),
                None => "a rule of the platform forbids it, and may clear".to_owned(),
            };
            after(NextStep::Wait, reason, looked.or(Some(not_before(wait))))
        }
        Some(Status::InvalidRequest) => {
            let wrong = Wrong { lacked: wrong.lacked || row.lacks, ..wrong };
            match wrong.needs_a_person() {
                Some(why) => after(NextStep::Escalate, why, None),
                None => after(NextStep::Correct, "it is wrong, and the response says where".to_owned(), None),
            }
        }
        None => after(NextStep::Escalate, "what it was answered with is not known here".to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delegation::row::{AnsweredRow, SeenRow};

    const DAY: i64 = 24 * 60 * 60 * 1000;

    fn row(status: &str, retry_allowed: bool, retry_after: Option<u64>, lacks: bool) -> DelegationRow {
        let answered = AnsweredRow { retry_allowed, retry_after, ..AnsweredRow::example(status) };
        DelegationRow { answered: Some(answered), lacks, instruction_id: "DI-1".to_owned(), ..DelegationRow::default() }
    }

    fn seen(holds: bool) -> Option<SeenRow> {
        Some(SeenRow { seq: 5, at: "1970-01-01T00:01:00Z".to_owned(), holds })
    }

    #[test]
    fn each_row_of_the_protocol_has_its_step() {
        let end = |failures: u64, last: &str| EndRow {
            tries: failures.max(1),
            failures,
            last: last.to_owned(),
            blocked_since: Some("1970-01-01T00:00:10Z".to_owned()),
            ..EndRow::default()
        };
        let decided = |what: &str| EndRow { resolved: Some(what.to_owned()), ..end(4, "DI-1") };
        let one = end(1, "DI-1");
        let success = |found: Option<SeenRow>| DelegationRow { found, ..row("SUCCESS", false, None, false) };
        let blocked = |barred: Option<SeenRow>| DelegationRow { barred, ..row("BLOCKED", true, None, false) };
        let (failed, invalid) =
            (|retry| row("FAILURE", retry, None, false), |lacks| row("INVALID_REQUEST", false, None, lacks));
        use NextStep::*;
        #[rustfmt::skip]
        let cases = [
            ("2.5 no step before a valid response", DelegationRow::default(), &one, 0, 0, Await, None),
            ("7.1.3 the resource is looked at first", success(None), &one, 0, 0, Verify, None),
            ("7.1.4 what is not there is no success", success(seen(false)), &one, 0, 0, Escalate, None),
            ("7.1.6 what was seen lets it go on", success(seen(true)), &one, 0, 0, Proceed, None),
            ("7.2.3 retry, when the response says", row("FAILURE", true, Some(30), false), &one, 0, 0, Retry, Some(40_000)),
            ("7.2.3 the third retry", failed(true), &end(3, "DI-1"), 0, 0, Retry, Some(10_000)),
            ("7.2.4 after three retries a person", failed(true), &end(4, "DI-1"), 0, 0, Escalate, None),
            ("7.2.5 no retry allowed: a person at once", failed(false), &one, 0, 0, Escalate, None),
            ("7.2 the last try counts", failed(true), &end(2, "DI-2"), 0, 0, Await, None),
            ("7.3.3 it waits", blocked(None), &one, 0, 20_000, Wait, Some(70_000)),
            ("7.3.3 it looks, and waits on", blocked(seen(true)), &one, 0, 70_000, Wait, Some(120_000)),
            ("7.3.5 retry only after it has cleared", blocked(seen(false)), &one, 0, 70_000, Retry, None),
            ("7.3.4 what does not clear by itself", row("BLOCKED", false, None, false), &one, 0, 0, Escalate, None),
            ("7.3 not without end", blocked(seen(true)), &one, 0, DAY + 10_001, Escalate, None),
            ("7.4.2 correct", invalid(false), &one, 1, 0, Correct, None),
            ("7.4.3 the third correction", invalid(false), &one, 3, 0, Correct, None),
            ("7.4.4 not clear after three corrections", invalid(false), &one, 4, 0, Escalate, None),
            ("7.4.4 authority is not the requester's to correct", invalid(true), &one, 1, 0, Escalate, None),
            ("a person lets it be tried again", failed(false), &decided("retry"), 0, 0, Retry, None),
            ("a person gave it up", invalid(true), &decided("abandon"), 0, 0, Abandon, None),
            ("5.1 a status that is none", row("SPLENDID", true, None, false), &one, 0, 0, Escalate, None),
        ];
        for (name, row, end, times, now, step, at) in cases {
            let wrong = Wrong { times, lacked: false, holds: false };
            let Next { step: found, reason, not_before } = next(&row, end, wrong, now);
            assert_eq!((found, not_before), (step, at), "{name}: {reason}");
        }
    }

    #[test]
    fn what_may_have_been_done_is_said_first() {
        let cases = [
            ("FAILURE", false, Some("unknown"), NextStep::Escalate, "nobody knows whether it was done"),
            ("FAILURE", false, Some("part"), NextStep::Escalate, "a part of it was done"),
            ("BLOCKED", false, Some("part"), NextStep::Escalate, "a part of it was done"),
            ("FAILURE", false, None, NextStep::Escalate, "it failed"),
            // What may be sent twice is: then it does not matter whether it was done.
            ("FAILURE", true, Some("unknown"), NextStep::Retry, "nobody knows whether it was done, and to do it twice"),
        ];
        for (status, retry, doubt, step, says) in cases {
            let mut row = row(status, retry, None, false);
            row.answered.as_mut().unwrap().doubt = doubt.map(str::to_owned);
            let end = EndRow { tries: 1, failures: 1, last: "DI-1".to_owned(), ..EndRow::default() };
            let found = next(&row, &end, Wrong::default(), 0);
            assert_eq!(found.step, step);
            assert!(found.reason.starts_with(says), "{}", found.reason);
        }
    }
}
