//! A person lets an action of a plan be carried out.

use super::ask::APPROVAL;
use super::{ActionAnswer, TASK_CODES, TASK_VIEWS, action_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::DELEGATION_APPROVED;
use crate::delegation::standing::{Action, Planned};
use crate::delegation::view::shown;
use crate::ids::{RunId, TaskId};
use crate::mark;
use crate::work::attempt;
use crate::work::authorship::same_person;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, Untrusted, shape, show};
use serde_json::{Value, json};

shape! {
    /// Let an action of a plan be carried out, once, exactly as it was shown.
    pub closed struct Approve {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// Why.
        pub reason: Untrusted<Text<1, 5000>> = "the release is announced for today",
    }
}

impl Approve {
    fn action(&self) -> Action<'_> {
        Action { run: self.run_id.as_ref(), task: &self.task_id }
    }
}

/// The action that a person answers for: one that asks, as it was shown to them.
pub(super) fn asked(action: Action<'_>, mark: &str, desk: &Desk) -> Result<Planned, Refusal> {
    let planned = action.seen(desk.seen())?;
    let task = &planned.task;
    let asks = task.blocker.as_ref().filter(|it| it.asks.as_deref() == Some(APPROVAL));
    if task.status != TaskStatus::Blocked || asks.is_none() || !planned.run.is_open() {
        let reason = format!("{} does not ask for an approval: it is {}", task.task, task.status);
        let help = "`countersign inbox` shows what is asked";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&task.run));
    }
    must_be_another(&planned, desk)?;
    let current =
        mark::must_be_current(&shown(&planned.planned, task), mark, desk.moment().now_ms, "countersign inbox");
    current.map_err(|refusal| refusal.of_run(&task.run))?;
    Ok(planned)
}

/// Who works in a run, or may by its plan, does not answer for what is done in its name.
fn must_be_another(planned: &Planned, desk: &Desk) -> Result<(), Refusal> {
    let actor = &desk.moment().actor;
    let mut workers = planned.run.workers.iter().chain(&planned.planned.agents);
    if !workers.any(|worker| same_person(worker, actor)) {
        return Ok(());
    }
    let reason = format!("{} works in this run, and cannot answer for {}", show(actor), planned.task.task);
    let help = "that is for a person to do who does none of its work";
    Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&planned.task.run))
}

/// The facts of an answer.
pub(super) fn facts(planned: &Planned) -> Value {
    json!({
        "digest": planned.planned.digest, "instruction_id": planned.planned.instruction_id, "run": planned.task.run,
        "task": planned.task.task,
    })
}

impl Command for Approve {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.approve",
        summary: "Let an action of a plan be carried out, once, exactly as it was shown",
        may: &[Role::Reviewer],
        invalidates: TASK_VIEWS,
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = ActionAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.action().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let planned = asked(self.action(), self.shown.as_str(), desk)?;
        let reason = Untrusted::new(self.reason.inspect(str::to_owned));
        let approved = Happening::of_run(DELEGATION_APPROVED, &planned.task.run, facts(&planned));
        desk.record(approved.with_texts(vec![reason]));
        attempt::requeue(desk, &planned.task, false, "a person approved it");
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ActionAnswer {
        action_answer(stored)
    }
}
