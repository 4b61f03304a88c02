//! What follows when something was said at a gate: the work goes on, is tried again, waits for a person, or is through.

use super::event::PROMISE_VERIFIED;
use super::gates::Standing;
use super::row::{PromiseRow, promise_of};
use super::subject::task_at;
use super::verdict::Verdict;
use crate::deciding::{Desk, Happening, Hold};
use crate::work::attempt;
use crate::work::event::TASK_BLOCKED;
use crate::work::row::TaskRow;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use serde_json::json;

/// How much of why a judge could not be reached is said where work is held back; all of it stands with the judgement.
const WHY_MAX: usize = 400;

/// Why work is held back, and what a person is asked.
struct Held {
    code: Code,
    reason: String,
    asks: Option<&'static str>,
}

/// Draws the conclusions from how a promise stands by now.
pub(crate) fn advance(desk: &mut Desk, promise: &PromiseRow) {
    advance_because(desk, promise, None);
}

/// The same, where it was said why a judge could not be reached.
pub(crate) fn advance_because(desk: &mut Desk, promise: &PromiseRow, why: Option<&str>) {
    let Some(row) = promise_of(desk.entity(&promise.key())) else { return };
    let standing = row.standing();
    match task_at(&row, desk) {
        None if standing == Standing::Passed => verified(desk, &row),
        None => {}
        Some((task, _)) if standing == Standing::Unreached => {
            let why: String = why.map(|why| format!(": {why}")).unwrap_or_default().chars().take(WHY_MAX).collect();
            let reason = format!("{}{why}", standing.says());
            let code = Code::MissingValidator.as_str();
            let facts = json!({
                "asks": "judgement", "code": code, "escalated": true, "failed": false, "keeps": true, "reason": reason,
            });
            attempt::stop(desk, &task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        }
        Some((task, hold)) => of_task(desk, &row, &standing, &task, hold.as_ref()),
    }
}

fn verified(desk: &mut Desk, row: &PromiseRow) {
    let facts = json!({ "assurance": assurance(row), "promise": row.promise });
    desk.record(Happening::new(PROMISE_VERIFIED, facts));
}

/// How sure it is that something is done which went through every gate.
pub(crate) fn assurance(row: &PromiseRow) -> &'static str {
    if row.acceptance.is_some() { "accepted" } else { "verified" }
}

fn of_task(desk: &mut Desk, row: &PromiseRow, standing: &Standing, task: &TaskRow, hold: Option<&Hold>) {
    let fails = |code| Held { code, reason: standing.says(), asks: None };
    let asks = |code, asks| Held { code, reason: standing.says(), asks: Some(asks) };
    match standing {
        Standing::Failed(Verdict::Blocked, _) => stop(desk, task, &fails(Code::MissingValidator)),
        Standing::Failed(..) | Standing::Rejected => fail(desk, task, hold, &fails(Code::AcceptanceFailed)),
        Standing::Partial(_) if attempt::has_budget(task, author(task), Code::AcceptanceFailed) && hold.is_some() => {
            fail(desk, task, hold, &fails(Code::AcceptanceFailed));
        }
        Standing::Partial(_) => stop(desk, task, &asks(Code::AcceptanceFailed, "acceptance")),
        Standing::Unvalidated(_) if row.waits_for_a_person() => {
            stop(desk, task, &asks(Code::MissingValidator, "validation"));
        }
        Standing::Unjudged if row.waits_for_a_person() => {
            stop(desk, task, &asks(Code::MissingValidator, "judgement"));
        }
        // A person has answered, and the work goes on where it was.
        Standing::Passed | Standing::Unjudged | Standing::Unvalidated(_) if task.status == TaskStatus::Blocked => {
            attempt::requeue_keeping(desk, task, "a person has answered");
        }
        _ => {}
    }
}

fn author(task: &TaskRow) -> &str {
    task.owner.as_deref().unwrap_or_default()
}

/// An attempt did not pass.
fn fail(desk: &mut Desk, task: &TaskRow, hold: Option<&Hold>, held: &Held) {
    match hold {
        Some(hold) => attempt::fail(desk, task, hold, held.code, &held.reason),
        None => attempt::fail_afterwards(desk, task, author(task), held.code, &held.reason),
    }
}

/// The work waits, holding nothing. Where a person is asked about what was claimed, that stands until they answer.
fn stop(desk: &mut Desk, task: &TaskRow, held: &Held) {
    let mut facts = json!({ "code": held.code.as_str(), "escalated": true, "failed": false, "reason": held.reason });
    if let Some(asks) = held.asks {
        facts["asks"] = json!(asks);
    }
    attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
}
