//! Giving a task back.

use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Give a task back unfinished: its locks are free, and somebody else may take it.
    pub closed struct Release {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// Why.
        pub reason: Text<1, 500> = "another task comes first",
    }
}

impl Command for Release {
    const INFO: CommandInfo = CommandInfo {
        id: "task.release",
        summary: "Give a task back, for somebody else to take",
        may: &[Role::Agent, Role::Orchestrator],
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
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        let hold = picking::own_lease(&task, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        // The life of a task knows no way back from work but through being blocked.
        let code = Code::ConcurrencyConflict.as_str();
        let facts = json!({ "code": code, "escalated": false, "failed": false, "reason": self.reason });
        desk.write_under(task.lease_name(), hold.number);
        attempt::stop(desk, &task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        attempt::requeue(desk, &task, false, "its worker gave it back");
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
