//! Saying that a task cannot go on.

use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::payload::ErrorCode;
use crate::work::row::{RunRow, TaskRow};
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, steering};
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Say that a task cannot go on, and why. Its locks are free.
    pub closed struct Block {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// What it is filed under.
        pub code: ErrorCode,
        /// What it waits for.
        pub reason: Text<1, 500> = "the specification contradicts itself",
    }
}

impl Command for Block {
    const INFO: CommandInfo = CommandInfo {
        id: "task.block",
        summary: "Say that a task cannot go on, and why",
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
        if task.status == TaskStatus::InProgress && !self.takes_away(&run, &task, desk) {
            let given = self.lease.map(|lease| lease.get().unsigned_abs());
            let hold =
                picking::own_lease(&task, given, desk).map_err(|refusal| of_another(&run, &task, desk, refusal))?;
            desk.write_under(task.lease_name(), hold.number);
        } else {
            steering::must_steer(&run, desk)?;
        }
        block(desk, &task, self.code.get().as_str(), self.reason.as_str())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

impl Block {
    /// Whether it is said by who leads the run about what somebody else works on, who loses it by that. A worker names its
    /// lease, and one that lost the task says nothing about it any more.
    fn takes_away(&self, run: &RunRow, task: &TaskRow, desk: &Desk) -> bool {
        let actor = desk.moment().actor.as_str();
        let is_worker = task.owner.as_deref() == Some(actor) || task.lost_by.iter().any(|it| it == actor);
        self.lease.is_none() && !is_worker && steering::directs(run, desk)
    }
}

/// Whoever does not work on a task is told who may say that it cannot go on.
fn of_another(run: &RunRow, task: &TaskRow, desk: &Desk, refusal: Refusal) -> Refusal {
    match task.owner.as_deref().filter(|owner| *owner != desk.moment().actor) {
        Some(owner) => Refusal { help: steering::who_directs(run, owner).into(), ..refusal },
        None => refusal,
    }
}

/// A task waits for something from here on, and holds nothing.
pub(super) fn block(desk: &mut Desk, task: &TaskRow, code: &str, reason: &str) -> Result<(), Refusal> {
    picking::may_become(task, TaskStatus::Blocked)?;
    let facts = json!({ "code": code, "escalated": true, "failed": false, "reason": reason });
    attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
    Ok(())
}
