//! What follows for a task of a plan from how its action was answered.

use super::{ActionAnswer, TASK_CODES, TASK_VIEWS, action_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, Moment, Need, Observed, Refusal, Role, Seen, Writes,
};
use crate::delegation::event::DELEGATION_ESCALATED;
use crate::delegation::standing::{Action, Planned, Standing};
use crate::ids::{RunId, TaskId};
use crate::work::completing::{self, Done};
use crate::work::event::TASK_BLOCKED;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking};
use countersign_contract::diagnostic::{Code, visible};
use countersign_contract::scan::redact;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

/// How long a reason may be.
const REASON_MAX: usize = 1900;

shape! {
    /// Say what follows for a task of a plan from how its action was answered. It is done if that was with success; otherwise it
    /// is tried again if it may be, or a person is asked.
    pub closed struct Conclude {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which it was carried out.
        pub lease: Int,
        /// What the response says, if it was not success.
        pub says: Option<Text<1, 2000>>,
    }
}

impl Conclude {
    fn action(&self) -> Action<'_> {
        Action { run: self.run_id.as_ref(), task: &self.task_id }
    }

    /// Why, with what the platform said.
    fn reason(&self, id: &str, why: &str) -> String {
        let said = self.says.as_ref().map(|says| format!(": {}", says.as_str())).unwrap_or_default();
        let whole = format!("{id}: {why}{said}");
        // Before anything is cut: half a secret is no longer known for one.
        let redacted = redact(&whole);
        visible(redacted.as_deref().unwrap_or(&whole)).chars().take(REASON_MAX).collect()
    }

    fn escalate(&self, desk: &mut Desk, planned: &Planned, id: &str, why: &str) {
        let task = &planned.task;
        let facts = json!({ "instruction_id": id, "run": task.run, "task": task.task });
        desk.record(Happening::of_run(DELEGATION_ESCALATED, &task.run, facts));
        let reason = self.reason(id, why);
        let code = Code::DependencyNotMet.as_str();
        let facts = json!({ "asks": "delegation", "code": code, "escalated": true, "failed": true, "reason": reason });
        attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
    }
}

impl Command for Conclude {
    const INFO: CommandInfo = CommandInfo {
        id: "delegation.conclude",
        summary: "Say what follows for a task of a plan from how its action was answered",
        may: &[Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: TASK_CODES,
        writes: Writes::Events,
    };
    type Answer = ActionAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = self.action().needs(seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        needs.extend(run.map(|run| completing::needs(&run, self.task_id.as_str())));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let planned = self.action().seen(desk.seen())?;
        planned.must_lead(desk)?;
        let task = &planned.task;
        let hold = picking::own_lease(task, Some(self.lease.get().unsigned_abs()), desk)?;
        desk.write_under(task.lease_name(), hold.number);
        match planned.standing(desk.seen(), desk.moment().now_ms) {
            Standing::Done(row) => {
                let reason = format!("{} was answered with SUCCESS, as {}", row.instruction_id, row.response_id);
                let result = row.answered.as_ref().map_or(0, |it| it.seq);
                let done = Done { assurance: "verified", reason: &reason, result, commit: None };
                let frees = completing::frees(desk, task)?;
                completing::complete(desk, task, &hold, &frees, &done);
                Ok(())
            }
            Standing::Stuck(id, why) => {
                self.escalate(desk, &planned, &id, &why);
                Ok(())
            }
            Standing::Taken(why) => {
                let id = planned.planned.instruction_id.clone();
                self.escalate(desk, &planned, &id, &why);
                Ok(())
            }
            standing => {
                let why = match &standing {
                    Standing::Rest(_, why) => why.as_str(),
                    _ => "it may be tried again",
                };
                let reason = self.reason(&planned.planned.instruction_id, why);
                let code = Code::DependencyNotMet.as_str();
                let facts = json!({ "code": code, "escalated": false, "failed": false, "reason": reason });
                attempt::stop(desk, task, TASK_BLOCKED, TaskStatus::Blocked, facts);
                attempt::requeue(desk, task, true, &reason);
                Ok(())
            }
        }
    }

    fn answer(&self, stored: &Answered<'_>) -> ActionAnswer {
        action_answer(stored)
    }
}
