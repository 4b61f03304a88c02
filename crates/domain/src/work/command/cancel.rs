//! A task that is not wanted any more.

use super::cancel_run::cancel_task;
use super::{ANSWER_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_ASSERTED;
use crate::work::row::TaskRow;
use crate::work::task_state::TaskStatus;
use crate::work::{picking, shown, steering};
use countersign_contract::{Text, shape};
use serde_json::json;

shape! {
    /// A task is not wanted any more. It is never reopened in this run.
    pub closed struct Cancel {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// Why.
        pub reason: Text<1, 500> = "another task covers it",
        /// The mark of what was shown, where a person answers.
        pub shown: Option<Text<1, 100>>,
    }
}

impl Command for Cancel {
    const INFO: CommandInfo = CommandInfo {
        id: "task.cancel",
        summary: "A task is not wanted any more",
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
        if task.status == TaskStatus::Canceled {
            // Nothing changes, and that somebody said so again is on the record.
            let facts = json!({
                "reason": self.reason, "run": task.run, "state": task.status.as_str(), "task": task.task,
            });
            desk.record(Happening::of_run(TASK_ASSERTED, &task.run, facts));
            return Ok(());
        }
        cancel(desk, &task, self.reason.as_str())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

/// A task that is not finished is not wanted any more.
pub(super) fn cancel(desk: &mut Desk, task: &TaskRow, reason: &str) -> Result<(), Refusal> {
    picking::may_become(task, TaskStatus::Canceled)?;
    cancel_task(desk, task, reason);
    Ok(())
}
