//! Letting a blocked task go on as it is.

use super::{ANSWER_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::row::TaskRow;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, shown, steering};
use countersign_contract::{Text, shape};

shape! {
    /// Let a blocked task be taken again as it is: what it waited for is there.
    pub closed struct Unblock {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// What has changed.
        pub reason: Text<1, 500> = "the specification was corrected",
        /// The mark of what was shown, where a person answers.
        pub shown: Option<Text<1, 100>>,
    }
}

impl Command for Unblock {
    const INFO: CommandInfo = CommandInfo {
        id: "task.unblock",
        summary: "Let a blocked task be taken again as it is",
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
        if task.status == TaskStatus::Todo {
            return Ok(());
        }
        unblock(desk, &task, self.reason.as_str())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

/// A blocked task may be taken again as it is.
pub(super) fn unblock(desk: &mut Desk, task: &TaskRow, reason: &str) -> Result<(), Refusal> {
    picking::may_become(task, TaskStatus::Todo)?;
    // What passed its gates and could not land is only to be landed, and what only lacks its judge is only to be judged.
    if task.blocker.as_ref().is_some_and(|it| it.keeps || it.asks.as_deref() == Some("landing")) {
        attempt::requeue_keeping(desk, task, reason);
    } else {
        attempt::requeue(desk, task, false, reason);
    }
    Ok(())
}
