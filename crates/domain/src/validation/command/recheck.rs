//! Work that passed its gates is looked at once more, on top of what has landed since.

use super::validate::{Found, collected, of_promise};
use super::{GATE_VIEWS, GateAnswer, PROMISE_CODES, gate_answer, must_be_another, must_be_bound};
use crate::deciding::{Answered, Command, CommandInfo, Desk, Moment, Need, Observed, Refusal, Role, Seen, Writes};
use crate::ids::{RunId, TaskId};
use crate::validation::event::GATES_STALE;
use crate::validation::gates::Standing;
use crate::validation::payload::Evidence;
use crate::validation::row::{BUILTIN, PromiseRow};
use crate::validation::subject::{Subject, must_be_builtin, must_speak, refusal, task_at, under_lease};
use crate::validation::verdict::CriterionStatus;
use crate::work::attempt;
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, List, Text, shape};
use serde_json::json;

shape! {
    /// Say what the checks found on the commit that would land: the claimed work on top of what has landed since it was begun.
    /// Where something does not hold any more, the gates are stale and the attempt has failed.
    pub closed struct Recheck {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
        /// The lease under which the task is worked on.
        pub lease: Option<Int>,
        /// What was claimed and validated.
        pub bound: Text<1, 200> = "9fceb02d0ae598e95dc970b74767f19372d61af8",
        /// The commit that would land, on which the evidence was collected.
        pub merged: Text<1, 200> = "1fceb02d0ae598e95dc970b74767f19372d61af8",
        /// The evidence.
        pub evidence: List<Evidence, 1, 1000>,
    }
}

impl Recheck {
    fn subject(&self) -> Subject<'_> {
        Subject { run: self.run_id.as_ref(), task: Some(&self.task_id), promise: None }
    }

    /// The criteria that do not hold any more, those left out that a person has accepted as they are.
    fn broken(&self, row: &PromiseRow) -> Vec<String> {
        let accepted = |id: &str| row.acceptance.iter().any(|it| it.failures.iter().any(|failure| failure == id));
        let fails = |it: &&Evidence| it.status != CriterionStatus::Pass && !accepted(it.criterion.as_str());
        let mut broken: Vec<String> =
            self.evidence.iter().filter(fails).map(|it| it.criterion.as_str().to_owned()).collect();
        broken.dedup();
        broken
    }
}

impl Command for Recheck {
    const INFO: CommandInfo = CommandInfo {
        id: "gate.recheck",
        summary: "Say what the checks found on what would land, on top of what has landed since",
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
        // What is said here is what the checks found, and those are carried out by nobody else.
        must_be_builtin(&row, desk)?;
        must_be_another(&row, &desk.moment().actor.clone(), "validate")?;
        let standing = row.standing();
        if standing != Standing::Passed {
            let reason = format!("{} is not through its gates: {}", self.task_id, standing.says());
            return Err(refusal(&row, Code::AcceptanceFailed, reason, "validate it first"));
        }
        must_be_bound(&row, Some(self.bound.as_str()))?;
        under_lease(&row, self.lease.map(|lease| lease.get().unsigned_abs()), desk)?;
        let Some((task, Some(hold))) = task_at(&row, desk) else { return Ok(()) };
        let merged = self.merged.as_str();
        for evidence in self.evidence.iter() {
            collected(desk, &row, BUILTIN, Some(merged), &Found::of(evidence, true));
        }
        let broken = self.broken(&row);
        if !broken.is_empty() {
            let facts = json!({ "bound": row.bound, "found": merged, "promise": row.promise });
            desk.record(of_promise(GATES_STALE, &row, facts));
            let (which, short) = (broken.join(", "), merged.get(..10).unwrap_or(merged));
            let reason = format!("{which} held, and does not on top of what has landed since (as {short})");
            attempt::fail(desk, &task, &hold, Code::AcceptanceFailed, &reason);
        }
        Ok(())
    }

    fn answer(&self, stored: &Answered<'_>) -> GateAnswer {
        gate_answer(stored)
    }
}
