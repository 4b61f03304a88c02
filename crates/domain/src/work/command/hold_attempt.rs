//! Holding an attempt until a person has accepted something.

use super::accept_content::is_content;
use super::unblock::unblock;
use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_BLOCKED;
use crate::work::row::CONTENT;
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Say that an attempt cannot go on before a person has accepted something that was changed beside the run, or somebody has
    /// put it back. What exactly that is, is its `content`; the reason is for people alone.
    pub closed struct HoldAttempt {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease of that attempt.
        pub lease: Int,
        /// What is to be accepted: the full name of a commit, or `sha256:` and a hash.
        pub content: Text<1, 100> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// What was changed, and by whom.
        pub reason: Text<1, 2000> = "tests/lib.sh was changed on the branch by x in 9fceb02",
        /// The hash of what is kept about it beside the ledger.
        pub kept: Option<Text<1, 100>>,
        /// Whether what was claimed stands when it goes on.
        pub keeps: Option<bool>,
        /// Whether nobody has worked under that lease yet: it was no attempt.
        pub idle: Option<bool>,
        /// Whether the worker is known to have done it: it counts as a failure, and among the refusals of the run.
        pub found: Option<bool>,
    }
}

impl Command for HoldAttempt {
    const INFO: CommandInfo = CommandInfo {
        id: "attempt.hold",
        summary: "Hold an attempt until a person has accepted what was changed beside the run",
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
        let content = self.content.as_str();
        if !is_content(content) {
            let reason = "what is to be accepted is neither the full name of a commit nor a hash";
            return Err(Refusal::new(Code::MissingRequiredInput, reason, "name it in full").of_run(&run.run));
        }
        picking::held(&task, self.lease.get().unsigned_abs(), desk)?;
        let (keeps, idle, found) = (self.keeps == Some(true), self.idle == Some(true), self.found == Some(true));
        let mut facts = json!({
            "asks": CONTENT, "code": Code::ScopeViolation.as_str(), "content": content, "escalated": true, "failed": found,
            "reason": self.reason,
        });
        for (name, _) in [("found", found), ("keeps", keeps), ("returned", idle)].iter().filter(|(_, is)| *is) {
            facts[*name] = json!(true);
        }
        if let Some(kept) = &self.kept {
            facts["kept"] = json!(kept);
        }
        attempt::stop(desk, &task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        // A person may have answered while it was looked at.
        if run.accepted.contains(content) {
            let held = picking::again(&task, desk)?;
            unblock(desk, &held, "what it waited for was accepted")?;
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}
