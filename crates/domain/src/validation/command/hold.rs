//! Work that was claimed cannot go on to its gates, or from there into the tree, as things are.

use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::validation::subject::{Subject, must_speak, task_at, under_lease};
use crate::work::attempt;
use crate::work::event::TASK_BLOCKED;
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Text, choice, shape};
use serde_json::json;

choice! {
    /// What is in the way.
    pub enum Obstacle {
        /// Others have changed the same places: the work must be done anew on top of theirs.
        Conflict = "conflict",
        /// Something that a person can put aside, such as changes that are not committed. The work itself stands.
        Landing = "landing",
        /// Files are read and written in another way than when the run began, which a person has to look at first. The work
        /// itself stands.
        Settings = "settings",
    }
}

shape! {
    /// Say that claimed work cannot be looked at, or cannot become part of the tree, as things are now, and why. A person is asked.
    pub closed struct HoldBack {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which the task is worked on.
        pub lease: Option<Int>,
        /// What is in the way.
        pub obstacle: Obstacle,
        /// Both sides, by name.
        pub reason: Text<1, 2000> = "billing/round.py was changed by T-2 in 9fceb02, and by this task",
    }
}

impl HoldBack {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: Some(&self.task_id), promise: None }
    }
}

impl Command for HoldBack {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.hold",
        summary: "Say that claimed work cannot be looked at or land as things are now",
        may: &[Role::Orchestrator],
        invalidates: GATE_VIEWS,
        refuses: PROMISE_CODES,
        writes: Writes::Events,
    };
    type Answer = GateAnswer;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.subject().needs(seen)
    }

    fn decide(&self, desk: &mut Desk, _: &Observed) -> Result<(), Refusal> {
        let row = self.subject().live(desk.seen())?;
        must_speak(&row, desk)?;
        under_lease(&row, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        let Some((task, _)) = task_at(&row, desk) else { return Ok(()) };
        let code = match self.obstacle {
            Obstacle::Settings => Code::ScopeViolation,
            Obstacle::Conflict | Obstacle::Landing => Code::ConcurrencyConflict,
        };
        let (asks, code) = (self.obstacle.as_str(), code.as_str());
        let mut facts =
            json!({ "asks": asks, "code": code, "escalated": true, "failed": false, "reason": self.reason });
        if self.obstacle == Obstacle::Settings {
            facts["keeps"] = json!(true);
        }
        attempt::stop(desk, &task, TASK_BLOCKED, TaskStatus::Blocked, facts);
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
