//! Work that went through every gate becomes part of the tree, and its task is done.

use super::validate::of_promise;
use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer, must_be_another};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::validation::advance::assurance;
use crate::validation::event::GATES_STALE;
use crate::validation::gates::Standing;
use crate::validation::row::promise_key;
use crate::validation::subject::{Subject, must_speak, refusal, task_at, under_lease};
use crate::work::completing::{self, Done};
use crate::work::picking;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, shape};
use serde_json::json;

shape! {
    /// Say that work which went through every gate is part of the tree. Its task is done.
    pub closed struct Land {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which the task is worked on.
        pub lease: Option<Int>,
        /// What is there now: the commit that was claimed, or the hash of contents. It must be what was validated.
        pub bound: Text<1, 200> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// The commit that brought it into the tree.
        pub commit: Option<Text<1, 200>>,
    }
}

impl Land {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: Some(&self.task_id), promise: None }
    }
}

impl Command for Land {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.land",
        summary: "Say that work which went through every gate is part of the tree",
        may: &[Role::Orchestrator],
        invalidates: GATE_VIEWS,
        refuses: PROMISE_CODES,
        writes: Writes::Events,
    };
    type Answer = GateAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = self.subject().needs(seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        needs.extend(run.map(|run| completing::needs(&run, self.task_id.as_str())));
        needs
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let row = self.subject().live(desk.seen())?;
        must_speak(&row, desk)?;
        must_be_another(&row, &desk.moment().actor.clone(), "complete")?;
        let standing = row.standing();
        if standing != Standing::Passed {
            let reason = format!("{} is not through its gates: {}", self.task_id, standing.says());
            let help = "`countersign gate status` shows what each gate asks";
            return Err(refusal(&row, Code::AcceptanceFailed, reason, help));
        }
        if row.bound.as_deref() != Some(self.bound.as_str()) {
            let before = row.bound.as_deref().unwrap_or("nothing");
            let reason = format!("what is there is {}, and what was validated is {before}", self.bound.as_str());
            let mut refusal = refusal(&row, Code::IntegrityMismatch, reason, "it must be validated again");
            let facts = json!({ "bound": row.bound, "found": self.bound, "promise": row.promise });
            refusal.kept = Box::new([of_promise(GATES_STALE, &row, facts)]);
            return Err(refusal);
        }
        under_lease(&row, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        let Some((task, Some(hold))) = task_at(&row, desk) else { return Ok(()) };
        let done = Done {
            assurance: assurance(&row),
            reason: "it went through every gate",
            result: row.claim.unwrap_or_default(),
            commit: self.commit.as_ref().map(Text::as_str),
        };
        let frees = completing::frees(desk, &task)?;
        completing::complete(desk, &task, &hold, &frees, &done);
        debug_assert!(desk.entity(&promise_key(&row.promise)).is_some_and(|it| it.facts["status"] == "verified"));
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
