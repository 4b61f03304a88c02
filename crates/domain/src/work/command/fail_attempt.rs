//! Saying that an attempt at a task came to nothing.

use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::payload::ErrorCode;
use crate::work::{attempt, picking, steering};
use countersign_contract::{Int, Text, shape};

shape! {
    /// Say that an attempt at a task came to nothing: its worker died, or brought nothing that can be used. It is tried again
    /// if the budget allows.
    pub closed struct FailAttempt {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease of that attempt.
        pub lease: Int,
        /// What it is filed under.
        pub code: ErrorCode,
        /// What happened.
        pub reason: Text<1, 2000> = "the agent was ended by signal 9",
        /// Whether who leads found it themselves, where nothing was brought that could have been refused: it counts among the
        /// refusals of the run.
        pub found: Option<bool>,
    }
}

impl Command for FailAttempt {
    const INFO: CommandInfo = CommandInfo {
        id: "attempt.fail",
        summary: "Say that an attempt at a task came to nothing; it is tried again if the budget allows",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: TASK_CODES,
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
        let hold = picking::held(&task, self.lease.get().unsigned_abs(), desk)?;
        if self.found == Some(true) {
            attempt::fail_as_found(desk, &task, &hold, self.code.get(), self.reason.as_str());
        } else {
            attempt::fail(desk, &task, &hold, self.code.get(), self.reason.as_str());
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
