//! Giving a run up.

use super::{RunAnswer, TASK_VIEWS, text_of};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::ids::RunId;
use crate::work::event::{RUN_CANCELED, TASK_CANCELED};
use crate::work::indexes;
use crate::work::row::{TaskRow, task_of};
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, shape};
use serde_json::json;

/// How many unfinished tasks can be canceled with their run at once.
const TASKS_MAX: usize = 10_000;

shape! {
    /// Give a run up: its unfinished tasks are canceled, and their locks are free.
    pub closed struct CancelRun {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Why.
        pub reason: Text<1, 500> = "the objective has changed",
    }
}

impl Command for CancelRun {
    const INFO: CommandInfo = CommandInfo {
        id: "run.cancel",
        summary: "Give a run up, with its unfinished tasks",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: &[Code::MissingRequiredInput, Code::DependencyNotMet, Code::InvalidTransition],
        writes: Writes::Events,
    };
    type Answer = RunAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = indexes::unfinished(&run, TASKS_MAX + 1);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Lease(key.id.to_string()));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let run = picking::run(self.run_id.as_ref(), desk.seen())?;
        if run.status == "canceled" {
            return Ok(());
        }
        let run = picking::open_run(self.run_id.as_ref(), desk.seen())?;
        steering::must_steer(&run, desk)?;
        let range = indexes::unfinished(&run.run, TASKS_MAX + 1);
        let tasks: Vec<TaskRow> = desk.range(&range).filter_map(|(_, key)| task_of(desk.entity(key))).collect();
        if tasks.len() > TASKS_MAX {
            let reason = format!("more than {TASKS_MAX} tasks of run {} are unfinished", run.run);
            let help = "cancel tasks first, with `countersign task cancel`";
            return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
        }
        for task in tasks {
            cancel_task(desk, &task, self.reason.as_str());
        }
        let facts = json!({ "reason": self.reason, "run": run.run });
        desk.record(Happening::of_run(RUN_CANCELED, &run.run, facts));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> RunAnswer {
        let event = stored.events.last();
        let named = || self.run_id.as_ref().map_or_else(String::new, |run| run.as_str().to_owned());
        let run_id = if event.is_some() { text_of(event, "run") } else { named() };
        RunAnswer { run_id, status: event.map(|_| "canceled".to_owned()), seq: event.map(|event| event.seq.into()) }
    }
}

/// A task is not wanted any more; whoever works on it loses it.
pub(super) fn cancel_task(desk: &mut Desk, task: &TaskRow, reason: &str) {
    attempt::stop(desk, task, TASK_CANCELED, TaskStatus::Canceled, json!({ "reason": reason }));
}
