//! How it stands with an action of a plan: what is to be done about it next.
//!
//! ```text
//!       ┌─▶ ask ── a person approves ─┐
//! todo ─┤                             ▼
//!       └──────────────────────────▶ act ─▶ answered ─┬─ SUCCESS, and seen ─▶ done
//!                                     ▲               ├─ it may be tried again ─▶ rest, and watch what forbids it
//!                                     └───────────────┴─ it may not ─────▶ stuck: a person decides
//! ```
//!
//! It follows from what the ledger has of the instruction and of the tries that came after it, so that whoever comes after a
//! crash goes on where it was.

use super::command::ExecutorKind;
use super::row::{DelegationRow, PlannedRow, delegation_key, delegation_of, end_key, end_of, planned_key, planned_of};
use super::trying::{TRIES_MAX, id_of_try};
use super::view::{NextStep, Wrong, next};
use crate::deciding::{Desk, Need, Refusal, Seen};
use crate::ids::{RunId, TaskId};
use crate::work::picking;
use crate::work::row::{RunRow, TaskRow};
use countersign_contract::diagnostic::Code;

/// How long an approval may wait to be used, in milliseconds.
const APPROVAL_MS_MAX: i64 = 24 * 60 * 60 * 1000;

/// What is to be done next about an action of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// A person must approve it.
    Ask,
    /// It is to be carried out, as the try with this number.
    Act(u64),
    /// It is tried again, not before this time in milliseconds since 1970.
    Rest(i64, String),
    /// What stands against the try with this number is to be looked at.
    Watch(u64),
    /// It was answered with success.
    Done(Box<DelegationRow>),
    /// A person decides: about which try, and why.
    Stuck(String, String),
    /// A person decides, because nothing can be done under its id.
    Taken(String),
}

/// The action of a task.
#[derive(Clone, Copy)]
pub(crate) struct Action<'a> {
    pub(crate) run: Option<&'a RunId>,
    pub(crate) task: &'a TaskId,
}

/// The action of a task, as it was seen.
pub(crate) struct Planned {
    pub(crate) run: RunRow,
    pub(crate) task: TaskRow,
    pub(crate) planned: PlannedRow,
}

impl Action<'_> {
    /// What must be seen: the task, the action, and what became of each try.
    pub(crate) fn needs(&self, seen: &Seen) -> Vec<Need> {
        let mut needs = picking::task_needs(self.run, self.task, seen);
        let Some(run) = picking::run_so_far(self.run, seen) else { return needs };
        let key = planned_key(&run, self.task.as_str());
        if let Some(planned) = planned_of(seen.so_far(&key)) {
            for id in (0..TRIES_MAX).filter_map(|number| id_of_try(&planned.instruction_id, number)) {
                let end = delegation_of(seen.so_far(&delegation_key(&id))).map(|row| Need::Entity(end_key(&row.end)));
                needs.extend(end.into_iter().chain([Need::Entity(delegation_key(&id))]));
            }
        }
        needs.push(Need::Entity(key));
        needs
    }

    /// The action, if the task is one.
    pub(crate) fn seen(&self, seen: &Seen) -> Result<Planned, Refusal> {
        let run = picking::run(self.run, seen)?;
        let task = picking::task(&run, self.task, seen)?;
        let Some(planned) = planned_of(seen.entity(&planned_key(&run.run, self.task.as_str()))) else {
            let reason = format!("{} is no action, but the work of an agent", self.task);
            let help = "`countersign gate status` shows how its gates stand";
            return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
        };
        Ok(Planned { run, task, planned })
    }
}

/// What is said of an instruction that is not this task's: what was done for others is not done for it.
pub(crate) fn came_before(row: &DelegationRow) -> String {
    let whose = match &row.of_task {
        Some((run, task)) => format!("for {task} of run {run}"),
        None => "outside of any plan".to_owned(),
    };
    let what = match &row.answered {
        Some(answered) => format!("was answered with {} at {}", answered.status, answered.at),
        None => format!("was received at {}", row.received_at),
    };
    format!("{} {what}, {whose}, and is acted on once; a new plan needs a new id", row.instruction_id)
}

impl Planned {
    /// What is to be done next.
    pub(crate) fn standing(&self, seen: &Seen, now_ms: i64) -> Standing {
        let row = |number: u64| {
            let id = id_of_try(&self.planned.instruction_id, number)?;
            delegation_of(seen.so_far(&delegation_key(&id)))
        };
        let Some(last) = (0..TRIES_MAX).take_while(|number| row(*number).is_some()).last() else {
            return self.begin(0, now_ms);
        };
        let Some(found) = row(last) else { return self.begin(last, now_ms) };
        let id = found.instruction_id.clone();
        if self.digest_of(last) != Some(found.digest.as_str()) {
            let reason = format!("another instruction came under {id} before, in event {}", found.received);
            return Standing::Taken(reason);
        }
        if !found.belongs_to(&self.task.run, &self.task.task) {
            return Standing::Taken(came_before(&found));
        }
        // Whoever began it goes on with it: it was approved then.
        if found.answered.is_none() {
            return Standing::Act(last);
        }
        let end = end_of(seen.so_far(&end_key(&found.end))).unwrap_or_default();
        // Its instruction stands in the plan, and is not corrected.
        let after = next(&found, &end, Wrong::default(), now_ms);
        let was_decided = self.planned.escalated.as_ref() == Some(&id);
        match after.step {
            NextStep::Proceed => Standing::Done(Box::new(found)),
            // To hand it in again is to look.
            NextStep::Verify => Standing::Act(last),
            // They let it go on, and so it is tried once more.
            _ if was_decided => self.begin(last + 1, now_ms),
            NextStep::Retry | NextStep::Wait if last >= self.planned.retries => {
                let often = self.planned.retries;
                Standing::Stuck(
                    id,
                    format!("{}; it was tried again {often} times, as often as it may be", after.reason),
                )
            }
            NextStep::Retry | NextStep::Wait => match after.not_before.filter(|until| *until > now_ms) {
                Some(until) => Standing::Rest(until, after.reason),
                None if after.step == NextStep::Wait => Standing::Watch(last),
                None => self.begin(last + 1, now_ms),
            },
            _ => Standing::Stuck(id, after.reason),
        }
    }

    /// What the instruction of a try is known by.
    pub(crate) fn digest_of(&self, number: u64) -> Option<&str> {
        self.planned.digests.get(usize::try_from(number).ok()?).map(String::as_str)
    }

    fn begin(&self, number: u64, now_ms: i64) -> Standing {
        let Some(_) = id_of_try(&self.planned.instruction_id, number) else {
            return Standing::Taken(format!("it was tried {TRIES_MAX} times, and no id is left for another"));
        };
        let fresh = self.planned.approved.is_some_and(|at| now_ms - at <= APPROVAL_MS_MAX);
        if self.planned.asks && !fresh { Standing::Ask } else { Standing::Act(number) }
    }

    /// Refuses whoever does not carry the run out.
    pub(crate) fn must_lead(&self, desk: &Desk) -> Result<(), Refusal> {
        if self.run.led_by.as_deref() == Some(desk.moment().authn.as_str()) {
            return Ok(());
        }
        let reason =
            format!("{} is an action, and only the process that carries the run out speaks for it", self.task.task);
        let help = "go on with the run: `countersign run --resume`";
        Err(Refusal::new(Code::AuthorizationMissing, reason, help).of_run(&self.run.run))
    }

    /// What is asked of a person, in a sentence.
    pub(crate) fn question(&self) -> String {
        let PlannedRow { action, repository, executor, instruction_id, .. } = &self.planned;
        let by = match ExecutorKind::parse(executor) {
            Some(ExecutorKind::Github) => "at GitHub",
            Some(ExecutorKind::Git) => "by git",
            _ => "as a dry run",
        };
        format!("{action} in {repository} {by} needs a person's approval: {instruction_id}")
    }
}
