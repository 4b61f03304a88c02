//! Giving a task back in the name of a worker that is gone.

use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Give a task back whose worker is gone, through no fault of its own. What it has claimed by then still stands. Where its
    /// lease has lapsed meanwhile, that is no failure of the worker's, and no attempt.
    pub closed struct ReturnAttempt {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease of that attempt.
        pub lease: Int,
        /// Why.
        pub reason: Text<1, 500> = "the runner was stopped",
    }
}

impl Command for ReturnAttempt {
    const INFO: CommandInfo = CommandInfo {
        id: "attempt.return",
        summary: "Give a task back whose worker is gone, through no fault of its own",
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
        let (number, now) = (self.lease.get().unsigned_abs(), desk.moment().now_ms);
        let held = desk.lease(&task.lease_name()).is_some_and(|hold| hold.deadline > now && hold.number == number);
        if let Some(lapsed) = task.lapsed.as_ref().filter(|(lapsed, _)| *lapsed == number) {
            if task.status != TaskStatus::Todo {
                picking::may_become(&task, TaskStatus::Todo)?;
            }
            attempt::excuse(desk, &task, lapsed, self.reason.as_str());
            return Ok(());
        }
        if !held || task.status != TaskStatus::InProgress {
            let reason = format!("lease {number} of {} is gone", task.task);
            let help = "that attempt has ended already; `countersign task show` tells how";
            return Err(Refusal::new(Code::ConcurrencyConflict, reason, help).of_run(&run.run));
        }
        desk.write_under(task.lease_name(), number);
        let code = Code::ConcurrencyConflict.as_str();
        // What was claimed, under this lease or one before it, still counts: it may have landed already.
        let facts = json!({
            "asks": "return", "code": code, "escalated": false, "failed": false, "reason": self.reason, "returned": true,
        });
        attempt::stop(desk, &task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        attempt::requeue_keeping(desk, &task, self.reason.as_str());
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
