//! Giving a task to another worker.

use super::{TASK_VIEWS, TaskAnswer, claim, task_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Observer, Refusal, Role, Seen, Tree, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::row::{RunRow, TaskRow, task_seen};
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, holding, picking, shown, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Name, Text, shape};
use serde_json::json;

shape! {
    /// Give a task to a worker by name. Whoever works on it loses it. Not in a run that follows a plan, which says who works.
    pub closed struct Reassign {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// Who works on it from here on.
        pub owner: Name = "coder-2",
        /// Why.
        pub reason: Text<1, 500> = "the first worker is stuck",
        /// The mark of what was shown, where a person answers.
        pub shown: Option<Text<1, 100>>,
    }
}

impl Command for Reassign {
    const INFO: CommandInfo = CommandInfo {
        id: "task.reassign",
        summary: "Give a task to another worker",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: claim::CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        Ok(Observed { tree: observer.tree(None), ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let mut needs = picking::task_needs(self.run_id.as_ref(), &self.task_id, seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        if let Some(row) = run.and_then(|run| task_seen(seen, &run, self.task_id.as_str())) {
            let scope = row.spec.lock_scope.iter().map(String::as_str);
            needs.extend(holding::needs_at(scope, Some(&row.key()), seen, moment.now_ms));
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        steering::must_steer(&run, desk)?;
        must_not_follow_a_plan(&run, &self.task_id)?;
        let task = picking::task(&run, &self.task_id, desk.seen())?;
        shown::must_be_answered(&run, &task, self.shown.as_ref().map(|it| it.as_str()), desk)?;
        reassign(desk, &run, &task, (self.owner.as_str(), self.reason.as_str()), observed.tree.as_ref())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

/// Refuses to say who works where a plan says so.
pub(super) fn must_not_follow_a_plan(run: &RunRow, task: &TaskId) -> Result<(), Refusal> {
    if !run.is_gated() {
        return Ok(());
    }
    let reason = format!(
        "run {} follows a plan, and who works on {task} is what the plan says: whoever carries it out would start them again",
        run.run
    );
    Err(Refusal::new(Code::InvalidTransition, reason, ANOTHER_WAY).of_run(&run.run))
}

/// Somebody works on a task from here on, and whoever did so before has lost it. Nothing, if they do already.
pub(super) fn reassign(
    desk: &mut Desk,
    run: &RunRow,
    task: &TaskRow,
    (owner, reason): (&str, &str),
    tree: Option<&Tree>,
) -> Result<(), Refusal> {
    if task.status == TaskStatus::InProgress && !attempt::settle(desk, task) {
        let Some(hold) = desk.lease(&task.lease_name()).cloned() else {
            let reason = format!("{} is in progress without a lease", task.task);
            return Err(Refusal::new(Code::LedgerInconsistent, reason, "run `countersign verify`"));
        };
        if hold.holder == owner {
            return Ok(());
        }
        let code = Code::ConcurrencyConflict.as_str();
        let facts = json!({ "code": code, "escalated": false, "failed": false, "reason": reason });
        attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
    }
    let mut task = picking::again(task, desk)?;
    if task.status == TaskStatus::Blocked {
        attempt::requeue(desk, &task, false, reason);
        task = picking::again(&task, desk)?;
    }
    claim::claim(desk, run, &task, owner, tree)
}

const ANOTHER_WAY: &str = "`countersign task unblock` has the same agent try again, `countersign task cancel` gives the task up; \
                           to have somebody else do it, cancel it, change the plan and run that";
