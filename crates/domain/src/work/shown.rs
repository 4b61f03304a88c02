//! What a person is asked about a task, and what their answer is bound to.
//!
//! Whatever the answer is (let it go on, ask for it anew, give it to somebody else, give it up, or a word at its gates), it
//! counts for what was shown, once, and for a day. While a task waits for a person nothing of it changes without another event
//! that says why it waits; so that event stands for all that there is to see.

use super::row::{RunRow, TaskRow};
use super::task_state::TaskStatus;
use crate::deciding::{Desk, Refusal};
use crate::mark;
use countersign_contract::diagnostic::Code;
use serde_json::{Value, json};

/// What is asked where an action must be approved. That is bound to the action itself, and answered where actions are.
pub(crate) const APPROVAL: &str = "approval";

/// The mark of a task that waits for a person. None, if it does not.
pub fn mark(task: &TaskRow, now_ms: i64) -> Option<String> {
    about(task).map(|about| mark::mark(&about, now_ms))
}

/// Everything that an answer is about.
pub(crate) fn about(task: &TaskRow) -> Option<Value> {
    let blocker = task.blocker.as_ref().filter(|_| task.status == TaskStatus::Blocked)?;
    let asks = blocker.escalated && blocker.asks.as_deref() != Some(APPROVAL);
    asks.then(|| {
        json!({
            "asked": task.asked, "asks": blocker.asks, "at": blocker.at, "attempt": task.attempt, "code": blocker.code,
            "reason": blocker.reason, "run": task.run, "task": task.task,
        })
    })
}

/// Refuses a person's answer about a task that names nothing, or something else than what stands there now. Who leads a run,
/// and who says that they do where there are no gates, is asked by nobody and names what they like; what they name must hold.
pub(crate) fn must_be_answered(run: &RunRow, task: &TaskRow, given: Option<&str>, desk: &Desk) -> Result<(), Refusal> {
    let now_ms = desk.moment().now_ms;
    let said = match (about(task), given) {
        (Some(about), Some(given)) => mark::must_be_current(&about, given, now_ms, LOOK),
        (None, Some(_)) => {
            let reason = format!("{} waits for no such answer: it is {}", task.task, task.status);
            Err(Refusal::new(Code::IntegrityMismatch, reason, AGAIN))
        }
        (Some(_), None) if run.is_gated() && !super::steering::leads(run, desk) => {
            let reason =
                format!("{} waits for a person, and an answer counts for what was shown: name its mark", task.task);
            Err(Refusal::new(Code::MissingRequiredInput, reason, NAME_IT))
        }
        (_, None) => Ok(()),
    };
    said.map_err(|refusal| refusal.of_run(&task.run))
}

const LOOK: &str = "countersign inbox";
const AGAIN: &str = "it was answered already, or went on by itself; `countersign inbox` shows what is asked now";
const NAME_IT: &str = "`countersign inbox` prints every answer with its mark; give it as --shown";
