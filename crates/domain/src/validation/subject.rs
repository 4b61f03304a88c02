//! Which promise a command means: one by its id, or that of a task.

use super::payload::PromiseId;
use super::row::{BUILTIN, PERSON, PromiseRow, promise_key, promise_of};
use crate::deciding::{Desk, Hold, Need, Refusal, Seen};
use crate::ids::{RunId, TaskId};
use crate::work::row::{RunRow, TaskRow, run_key, run_of, task_key, task_of};
use crate::work::task_state::TaskStatus;
use crate::work::{picking, steering};
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

/// Refuses who has no voice at the gates of a task. While a process carries the run out, it alone speaks there; while none does,
/// a person, who answers for what they say. A name that somebody gives themselves is no voice at any time: a worker has as many
/// of them as it likes.
pub(crate) fn must_speak(row: &PromiseRow, desk: &Desk) -> Result<(), Refusal> {
    let Some(run) = run_at(row, desk) else { return Ok(()) };
    match &run.led_by {
        _ if steering::leads(&run, desk) => Ok(()),
        Some(by) => {
            let reason =
                format!("the run is carried out by another process ({}), which alone speaks at its gates", show(by));
            let help = "wait for what it says; if it is gone, go on with `countersign run --resume`; a peer that the plan \
                        names as a validator shows a token with its name (--token-file)";
            Err(refusal(row, Code::AuthorizationMissing, reason, help))
        }
        None if desk.moment().person => Ok(()),
        None => {
            let reason = format!(
                "run {} follows a plan, and what is said at its gates is for the process that carries it out or for a \
                 person to say",
                run.run
            );
            let help = "go on with the run: `countersign run --resume`; a person speaks at a terminal, or with the token \
                        of an owner or a reviewer (--token-file)";
            Err(refusal(row, Code::AuthorizationMissing, reason, help))
        }
    }
}

/// Whether who asks is a peer whom a plan names as a validator and who shows a token of that name, which a person gave out: so it
/// is heard beside the process that carries the run out. A validator whom that process starts is heard through it alone, whoever
/// has a token that is named alike. A name that somebody only says is theirs is none here either, and at a terminal names are only
/// said.
pub(crate) fn speaks_for_itself(row: &PromiseRow, validator: &str, desk: &Desk) -> bool {
    let moment = desk.moment();
    let is_peer = row.of_task.is_some() && row.peers.iter().any(|it| it == validator);
    let is_shown = moment.person && moment.authn.starts_with("token ") && moment.actor == validator;
    is_peer && is_shown && ![BUILTIN, PERSON].contains(&validator)
}

/// Whether who asks is the process that carries the run of a promise out. Nobody is, where it belongs to no task.
pub(crate) fn leads(row: &PromiseRow, desk: &Desk) -> bool {
    run_at(row, desk).is_some_and(|run| steering::leads(&run, desk))
}

/// Refuses who would speak as the built-in validator, which is the process that carries the run out.
pub(crate) fn must_be_builtin(row: &PromiseRow, desk: &Desk) -> Result<(), Refusal> {
    if leads(row, desk) {
        return Ok(());
    }
    let reason = format!("`{BUILTIN}` is Countersign itself, and nobody else speaks for it");
    let help =
        "its checks are carried out by `countersign run`, and for a promise by `countersign gate validate --checks`";
    Err(refusal(row, Code::AuthorizationMissing, reason, help))
}

/// The run that a promise belongs to.
fn run_at(row: &PromiseRow, desk: &Desk) -> Option<RunRow> {
    row.of_task.as_ref().and_then(|(run, _)| run_of(desk.entity(&run_key(run))))
}

/// A refusal about a promise.
pub(crate) fn refusal(row: &PromiseRow, code: Code, reason: String, help: &str) -> Refusal {
    let refusal = Refusal::new(code, reason, help);
    match &row.of_task {
        Some((run, _)) => refusal.of_run(run),
        None => refusal,
    }
}
