//! Giving a task up.

use super::{ANSWER_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_FAILED;
use crate::work::payload::ErrorCode;
use crate::work::row::TaskRow;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, shown, steering};
use countersign_contract::{Text, shape};
use serde_json::json;

shape! {
    /// Give a task up for good. A worker that failed says so with a result instead, and may be followed by another.
    pub closed struct Fail {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// What it is filed under.
        pub code: ErrorCode,
        /// Why.
        pub reason: Text<1, 500> = "it cannot be done this way",
        /// The mark of what was shown, where a person answers.
        pub shown: Option<Text<1, 100>>,
    }
}

impl Command for Fail {
    const INFO: CommandInfo = CommandInfo {
        id: "task.fail",
        summary: "Give a task up for good",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: ANSWER_CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        picking::task_needs(self.run_id.as_ref(), &self.task_id, seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        steering::must_steer(&run, desk)?;
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        shown::must_be_answered(&run, &task, self.shown.as_ref().map(|it| it.as_str()), desk)?;
        fail(desk, &task, self.code.get().as_str(), self.reason.as_str())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

/// A task is given up; whoever works on it loses it.
pub(super) fn fail(desk: &mut Desk, task: &TaskRow, code: &str, reason: &str) -> Result<(), Refusal> {
    picking::may_become(task, TaskStatus::Failed)?;
    let facts = json!({ "code": code, "escalated": false, "failed": false, "reason": reason });
    attempt::stop(desk, task, TASK_FAILED, TaskStatus::Failed, facts);
    Ok(())
}
