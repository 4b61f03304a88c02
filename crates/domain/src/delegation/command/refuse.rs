//! A person refuses an action of a plan.

use super::approve::{asked, facts};
use super::{ActionAnswer, TASK_CODES, TASK_VIEWS, action_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::DELEGATION_REFUSED;
use crate::delegation::standing::Action;
use crate::ids::{RunId, TaskId};
use crate::work::attempt;
use crate::work::event::TASK_FAILED;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Text, Untrusted, shape};
use serde_json::json;

shape! {
    /// Refuse an action of a plan. Its task has failed, and what depends on it is not done.
    pub closed struct Refuse {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The mark of what was shown.
        pub shown: Text<1, 100> = "0123456789abcdef.29000000",
        /// Why.
        pub reason: Text<1, 500> = "the release was put off",
    }
}

impl Refuse {
    fn action(&self) -> Action<'_> {
        Action { run: self.run_id.as_ref(), task: &self.task_id }
    }
}

impl Command for Refuse {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.refuse",
        summary: "Refuse an action of a plan",
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
        let (task, actor) = (&planned.task, desk.moment().actor.clone());
        let text = Untrusted::new(self.reason.as_str().to_owned());
        desk.record(Happening::of_run(DELEGATION_REFUSED, &task.run, facts(&planned)).with_texts(vec![text]));
        let reason = format!("{actor} refused it: {}", self.reason.as_str());
        let code = Code::AuthorizationMissing.as_str();
        let facts = json!({ "code": code, "escalated": false, "failed": false, "reason": reason });
        attempt::stop(desk, task, TASK_FAILED, TaskStatus::Failed, facts);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ActionAnswer {
        action_answer(stored)
    }
}
