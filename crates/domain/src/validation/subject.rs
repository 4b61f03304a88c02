//! Which promise a command means: one by its id, or that of a task.

use super::payload::PromiseId;
use super::row::{PromiseRow, promise_key, promise_of};
use crate::deciding::{Desk, Hold, Need, Refusal, Seen};
use crate::ids::{RunId, TaskId};
use crate::work::picking;
use crate::work::row::{TaskRow, run_key, run_of, task_key, task_of};
use crate::work::task_state::TaskStatus;
use countersign_contract::diagnostic::Code;
use countersign_contract::show;

/// What a command names.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) run: Option<&'a RunId>,
    pub(crate) task: Option<&'a TaskId>,
    pub(crate) promise: Option<&'a PromiseId>,
}

impl Subject<'_> {
    /// The name of the promise among entities, as far as it can be told.
    fn name(&self, seen: &Seen) -> Option<String> {
        match (self.promise, self.task) {
            (Some(promise), _) => Some(promise.as_str().to_owned()),
            (None, Some(task)) => Some(format!("{}/{task}", picking::run_so_far(self.run, seen)?)),
            (None, None) => None,
        }
    }

    /// What must be seen: the promise, and the task that it belongs to.
    pub(crate) fn needs(&self, seen: &Seen) -> Vec<Need> {
        let mut needs = match self.task {
            Some(task) => picking::task_needs(self.run, task, seen),
            None => Vec::new(),
        };
        needs.extend(self.name(seen).map(|name| Need::Entity(promise_key(&name))));
        needs
    }

    /// The promise that is meant.
    pub(crate) fn promise(&self, seen: &Seen) -> Result<PromiseRow, Refusal> {
        if self.promise.is_some() == self.task.is_some() {
            let reason = "a gate is that of a task or of a promise, and one of them must be named";
            return Err(Refusal::new(Code::MissingRequiredInput, reason, "name a task, or a promise by its id"));
        }
        if let Some(task) = self.task {
            let run = picking::run(self.run, seen)?;
            let row = picking::task(&run, task, seen)?;
            if !row.gated {
                let reason = format!("{task} has no gates: in run {} a task is done by its worker's word", run.run);
                let help = "gates are those of a plan: `countersign run PLAN`";
                return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
            }
            if row.spec.led {
                let reason =
                    format!("{task} is an action, which has no gates: it is done when the platform has answered");
                let help = "`countersign task show` tells how it stands, `countersign inbox` what is asked";
                return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
            }
        }
        let name = self.name(seen).unwrap_or_default();
        promise_of(seen.entity(&promise_key(&name))).ok_or_else(|| {
            let reason = format!("there is no promise {}", show(&name));
            Refusal::new(Code::DependencyNotMet, reason, "`countersign promise list` shows them").of_absent()
        })
    }

    /// The promise, if it can still change.
    pub(crate) fn live(&self, seen: &Seen) -> Result<PromiseRow, Refusal> {
        let row = self.promise(seen)?;
        if row.is_final() {
            let reason = format!("{} is {}", row.id, row.status);
            return Err(refusal(&row, Code::InvalidTransition, reason, "what is finished stays so; make another one"));
        }
        Ok(row)
    }
}

/// The task of a promise as it is by now, with its lease if somebody works on it.
pub(crate) fn task_at(row: &PromiseRow, desk: &Desk) -> Option<(TaskRow, Option<Hold>)> {
    let (run, task) = row.of_task.as_ref()?;
    let task = task_of(desk.entity(&task_key(run, task)))?;
    let now = desk.moment().now_ms;
    let hold = desk.lease(&task.lease_name()).filter(|hold| hold.deadline > now).cloned();
    let hold = hold.filter(|_| task.status == TaskStatus::InProgress);
    Some((task, hold))
}

/// Under which lease the gates of a task are looked at: the one that its worker has. A verdict about work that was given to
/// somebody else since is refused.
pub(crate) fn under_lease(row: &PromiseRow, given: Option<u64>, desk: &mut Desk) -> Result<(), Refusal> {
    let Some((task, hold)) = task_at(row, desk) else { return Ok(()) };
    must_lead(row, desk)?;
    match hold {
        Some(hold) if given == Some(hold.number) => {
            desk.write_under(task.lease_name(), hold.number);
            Ok(())
        }
        Some(hold) => {
            let given = given.map_or("no lease".to_owned(), |given| format!("lease {given}"));
            let reason = format!("{} is worked on under lease {}, and {given} was named", task.task, hold.number);
            Err(refusal(row, Code::ConcurrencyConflict, reason, "look how the task stands, and give its lease"))
        }
        None => {
            let reason = format!("nobody works on {} at present: it is {}", task.task, task.status);
            Err(refusal(row, Code::ConcurrencyConflict, reason, "what was found is about work that was given up"))
        }
    }
}

/// While a process carries a run out, it alone speaks at the gates of its tasks.
fn must_lead(row: &PromiseRow, desk: &Desk) -> Result<(), Refusal> {
    let run = row.of_task.as_ref().and_then(|(run, _)| run_of(desk.entity(&run_key(run))));
    match run.and_then(|run| run.led_by) {
        Some(by) if by != desk.moment().authn => {
            let reason =
                format!("the run is carried out by another process ({}), which alone speaks at its gates", show(&by));
            let help = "wait for what it says; if it is gone, go on with `countersign run --resume`";
            Err(refusal(row, Code::AuthorizationMissing, reason, help))
        }
        _ => Ok(()),
    }
}

/// A refusal about a promise.
pub(crate) fn refusal(row: &PromiseRow, code: Code, reason: String, help: &str) -> Refusal {
    let refusal = Refusal::new(code, reason, help);
    match &row.of_task {
        Some((run, _)) => refusal.of_run(run),
        None => refusal,
    }
}
