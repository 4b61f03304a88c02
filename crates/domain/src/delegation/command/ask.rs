//! Asking a person whether an action of a plan may be carried out.

use super::{ActionAnswer, TASK_CODES, TASK_VIEWS, action_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::delegation::standing::{Action, Standing};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::shape;
use serde_json::json;

/// What the task asks for while it waits.
pub(crate) use crate::work::shown::APPROVAL;

shape! {
    /// Ask a person whether an action of a plan may be carried out. It waits until they have answered, and holds nothing.
    pub closed struct Ask {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
    }
}

impl Ask {
    fn action(&self) -> Action<'_> {
        Action { run: self.run_id.as_ref(), task: &self.task_id }
    }
}

impl Command for Ask {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.ask",
        summary: "Ask a person whether an action of a plan may be carried out",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = ActionAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.action().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let planned = self.action().seen(desk.seen())?;
        planned.must_lead(desk)?;
        let task = &planned.task;
        let asks = task.blocker.as_ref().and_then(|it| it.asks.as_deref());
        if task.status == TaskStatus::Blocked && asks == Some(APPROVAL) {
            return Ok(());
        }
        if planned.standing(desk.seen(), desk.moment().now_ms) != Standing::Ask {
            let reason = format!("{} does not ask for an approval", task.task);
            return Err(Refusal::new(Code::InvalidTransition, reason, "look how it stands").of_run(&task.run));
        }
        if task.status != TaskStatus::Todo {
            picking::may_become(task, TaskStatus::Todo)?;
        }
        let facts = json!({
            "asks": APPROVAL, "code": Code::AuthorizationMissing.as_str(), "escalated": true, "failed": false,
            "reason": planned.question(),
        });
        attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> ActionAnswer {
        action_answer(stored)
    }
}
