//! The requester's rules, where it hands in the next instruction for the same end: what a person must decide about is not tried
//! again before they have, and nothing is tried before its time.

use crate::deciding::{Desk, Need, Refusal, Seen};
use crate::delegation::payload::Status;
use crate::delegation::row::{DelegationRow, EndRow, delegation_key, delegation_of, end_key, end_of};
use crate::delegation::view::{Next, NextStep, Wrong, next};
use countersign_contract::diagnostic::Code;
use jiff::Timestamp;

/// Where a person is asked, and answers.
const ASK: &str = "`countersign inbox` shows what is asked; `countersign delegate --resolve` answers it";

/// What must be seen of an end: how it stands, and its last instruction.
pub(crate) fn needs(seen: &Seen, end: &str) -> Vec<Need> {
    let key = end_key(end);
    let mut needs = vec![Need::Entity(key.clone())];
    if let Some(row) = end_of(seen.so_far(&key)).filter(|row| !row.last.is_empty()) {
        let last = delegation_key(&row.last);
        let concern = delegation_of(seen.so_far(&last)).and_then(|row| row.concern);
        needs.extend(concern.map(|concern| Need::Entity(end_key(&concern))));
        needs.push(Need::Entity(last));
    }
    needs
}

/// The last instruction for an end, and what its requester does next. None, if there was none, or it belongs to a plan.
pub(crate) fn standing(seen: &Seen, end: &str, now_ms: i64) -> Option<(DelegationRow, Next)> {
    let row: EndRow = end_of(seen.so_far(&end_key(end))).filter(|row| !row.of_task)?;
    let last = delegation_of(seen.so_far(&delegation_key(&row.last)))?;
    let after = next(&last, &row, wrong(seen, &last), now_ms);
    Some((last, after))
}

/// How what has a concern in common with an instruction was wrong, if it is the last of them: what was corrected since is not asked
/// about. What lacks authority is asked about whatever came since.
pub(crate) fn wrong(seen: &Seen, row: &DelegationRow) -> Wrong {
    let concern = row.concern.as_deref().and_then(|concern| end_of(seen.so_far(&end_key(concern))));
    let Some(concern) = concern else { return Wrong::default() };
    let is_last = concern.last == row.instruction_id;
    let mut wrong = if is_last { Wrong::of(&concern) } else { Wrong::default() };
    wrong.holds = concern.lacking.as_ref() == Some(&row.instruction_id);
    wrong
}

/// What must be seen of a concern: how it stands, and its last instruction.
pub(super) fn concern_needs(seen: &Seen, concern: &str) -> Vec<Need> {
    let key = end_key(concern);
    let last = end_of(seen.so_far(&key)).filter(|row| !row.last.is_empty()).map(|row| delegation_key(&row.last));
    last.into_iter().chain([key]).map(Need::Entity).collect()
}

/// Refuses an instruction that may be acted on where what it corrects waits for a person: another wording of it is no answer of theirs.
pub(super) fn must_be_settled(desk: &Desk, id: &str, end: &str, concern: &str) -> Result<(), Refusal> {
    let Some(row) = end_of(desk.entity(&end_key(concern))) else { return Ok(()) };
    let of_plan = delegation_of(desk.entity(&delegation_key(&row.last))).is_none_or(|last| last.of_task.is_some());
    // They have let just this be tried again.
    let allowed = end_of(desk.entity(&end_key(end))).is_some_and(|end| end.resolved.as_deref() == Some("retry"));
    if let Some(before) = row.given_up.as_ref().filter(|_| !allowed) {
        let reason =
            format!("{before} was for the same requirement without the authority for it, and a person has given it up");
        let help = "leave it, or have a person ask for it in their own name";
        return Err(Refusal::new(Code::AuthorizationMissing, format!("{id} is not received: {reason}"), help));
    }
    // What a plan does is no correction of what was wrong, and gives no authority to what lacked it.
    let is_open = allowed || (of_plan && row.lacking.is_none());
    let Some(why) = Wrong::of(&row).needs_a_person().filter(|_| !is_open) else { return Ok(()) };
    let before = row.lacking.as_ref().unwrap_or(&row.last);
    let reason = format!("{before} was for the same requirement, and a person decides how it goes on: {why}");
    Err(Refusal::new(Code::AuthorizationMissing, format!("{id} is not received: {reason}"), ASK))
}

/// Refuses an instruction whose end waits: for a person, for a time, for a constraint, or for an answer. One that is wrong itself,
/// like the last one, is answered so: nothing would be done for it anyway.
pub(super) fn must_be_free(desk: &Desk, id: &str, end: &str, is_wrong: bool) -> Result<(), Refusal> {
    let Some((last, after)) = standing(desk.seen(), end, desk.moment().now_ms) else { return Ok(()) };
    let before = &last.instruction_id;
    let was_wrong = last.answered.as_ref().is_some_and(|it| it.status == Status::InvalidRequest.as_str());
    let until = after.not_before.filter(|until| *until > desk.moment().now_ms);
    let (code, reason, help) = match after.step {
        NextStep::Escalate if !(is_wrong && was_wrong) => {
            let reason = format!("{before} was for the same, and a person decides how it goes on: {}", after.reason);
            (Code::AuthorizationMissing, reason, ASK)
        }
        NextStep::Abandon => {
            let reason = format!("{before} was for the same, and {}", after.reason);
            (Code::AuthorizationMissing, reason, "leave it, or have a person ask for it in their own name")
        }
        NextStep::Await => {
            let reason = format!("{before} is for the same, and {}", after.reason);
            (Code::ConcurrencyConflict, reason, "hand that one in again: it goes on where it was, and acts once")
        }
        NextStep::Wait => {
            let reason = format!("{before} was for the same, and {}", after.reason);
            let help = "wait until that is gone; handing the next one in looks whether it is, and changes nothing";
            (Code::DependencyNotMet, reason, help)
        }
        NextStep::Retry if until.is_some() => {
            let at = until.and_then(|until| Timestamp::from_millisecond(until).ok()).unwrap_or_default();
            let reason = format!("{before} was for the same, and is not tried again before {at:.0}");
            (Code::DependencyNotMet, reason, "wait until then")
        }
        _ => return Ok(()),
    };
    Err(Refusal::new(code, format!("{id} is not received: {reason}"), help))
}
