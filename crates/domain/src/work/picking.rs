//! Which run and which task a command means, and whether the caller may speak for it.

use super::indexes;
use super::row::{self, RunRow, TaskRow, lease_name, run_key, task_key, task_of};
use super::task_state::TaskStatus;
use crate::deciding::{Desk, Hold, Need, Refusal, Seen};
use crate::ids::{RunId, TaskId};
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use jiff::Timestamp;
use std::sync::Arc;

/// Why a run must be named, where none is open.
pub const NONE_OPEN: &str = "no run is open";

/// What must be seen to tell the run: the run itself, and where none is named which runs are open.
pub(crate) fn run_needs(named: Option<&RunId>, seen: &Seen) -> Vec<Need> {
    let open = named.is_none().then(|| Need::Range(indexes::open_runs()));
    let run = run_so_far(named, seen).map(|run| Need::Entity(run_key(&run)));
    open.into_iter().chain(run).collect()
}

/// The id of the run that is meant, as far as it can be told.
pub(crate) fn run_so_far(named: Option<&RunId>, seen: &Seen) -> Option<String> {
    if let Some(named) = named {
        return Some(named.as_str().to_owned());
    }
    match seen.range_so_far(&indexes::open_runs())?.as_slice() {
        [(_, only)] => Some(only.id.to_string()),
        _ => None,
    }
}

/// The run that is meant: the one that was named, or the only one that is open.
pub(crate) fn run(named: Option<&RunId>, seen: &Seen) -> Result<RunRow, Refusal> {
    run_at(named, seen).map(Arc::unwrap_or_clone)
}

/// The same for whoever only looks at it: it is shared, and not copied.
pub(super) fn run_at(named: Option<&RunId>, seen: &Seen) -> Result<Arc<RunRow>, Refusal> {
    let open = || seen.range(&indexes::open_runs()).collect::<Vec<_>>();
    let id = match (named, named.map_or_else(open, |_| Vec::new()).as_slice()) {
        (Some(named), _) => named.as_str().to_owned(),
        (None, [(_, only)]) => only.id.to_string(),
        (None, []) => {
            let help = "begin one: `countersign run PLAN`, or `countersign run open --objective TEXT` to work by hand";
            return Err(Refusal::new(Code::DependencyNotMet, NONE_OPEN, help));
        }
        (None, _) => {
            let help = "say which with --run or COUNTERSIGN_RUN; `countersign run list` shows them";
            return Err(Refusal::new(Code::MissingRequiredInput, "several runs are open", help));
        }
    };
    row::run_at(seen.entity(&run_key(&id))).ok_or_else(|| {
        let reason = format!("there is no run {}", show(&id));
        Refusal::new(Code::DependencyNotMet, reason, "`countersign run list` shows the runs").of_absent()
    })
}

/// The lease under which an attempt goes on, by its number. What is recorded next is written under it.
pub(crate) fn held(task: &TaskRow, number: u64, desk: &mut Desk) -> Result<Hold, Refusal> {
    let now = desk.moment().now_ms;
    let hold = desk.lease(&task.lease_name()).filter(|hold| hold.deadline > now && hold.number == number).cloned();
    let Some(hold) = hold.filter(|_| task.status == TaskStatus::InProgress) else {
        let reason = format!("lease {number} of {} is gone", task.task);
        let help = "that attempt has ended already; `countersign task show` tells how";
        return Err(Refusal::new(Code::ConcurrencyConflict, reason, help).of_run(&task.run));
    };
    desk.write_under(task.lease_name(), number);
    Ok(hold)
}

/// The same, if work goes on in it.
pub(crate) fn open_run(named: Option<&RunId>, seen: &Seen) -> Result<RunRow, Refusal> {
    open_run_at(named, seen).map(Arc::unwrap_or_clone)
}

/// The same for whoever only looks at it.
pub(super) fn open_run_at(named: Option<&RunId>, seen: &Seen) -> Result<Arc<RunRow>, Refusal> {
    let run = run_at(named, seen)?;
    if run.is_open() {
        return Ok(run);
    }
    let reason = format!("run {} is {}", run.run, run.status);
    Err(Refusal::new(
        Code::InvalidTransition,
        reason,
        "begin another one: `countersign run PLAN`, or `countersign run open`",
    )
    .of_run(&run.run))
}

/// What must be seen of a task and its lease.
pub(crate) fn task_needs(named: Option<&RunId>, task: &TaskId, seen: &Seen) -> Vec<Need> {
    let mut needs = run_needs(named, seen);
    if let Some(run) = run_so_far(named, seen) {
        needs.push(Need::Entity(task_key(&run, task.as_str())));
        needs.push(Need::Lease(lease_name(&run, task.as_str())));
    }
    needs
}

/// The task that is meant.
pub(crate) fn task(run: &RunRow, task: &TaskId, seen: &Seen) -> Result<TaskRow, Refusal> {
    task_at(run, task, seen).map(Arc::unwrap_or_clone)
}

/// The same for whoever only looks at it.
pub(super) fn task_at(run: &RunRow, task: &TaskId, seen: &Seen) -> Result<Arc<TaskRow>, Refusal> {
    row::task_at(seen.entity(&task_key(&run.run, task.as_str()))).ok_or_else(|| {
        let reason = format!("there is no task {task} in run {}", run.run);
        let help = "`countersign task list` shows the tasks";
        Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run).of_absent()
    })
}

/// What to do where a task is finished.
pub(crate) const FINISHED: &str = "what is finished stays so; add a new task";

/// Refuses a change of state that the life of a task does not allow.
pub(crate) fn may_become(task: &TaskRow, to: TaskStatus) -> Result<(), Refusal> {
    if task.status != to && task.status.next().contains(&to) {
        return Ok(());
    }
    let reason = format!("{} is {} and cannot become {to}", task.task, task.status);
    let help = match task.status {
        status if status.is_final() => FINISHED.to_owned(),
        TaskStatus::Todo => format!("claim it first: `countersign task claim {}`", task.task),
        TaskStatus::InProgress if to == TaskStatus::Todo => {
            format!(
                "somebody works on it; whoever leads the run stops that first, with `countersign task block {}`",
                task.task
            )
        }
        _ => format!("`countersign task show {}` tells how it stands", task.task),
    };
    Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&task.run))
}

/// The lease under which the caller works on a task. It is the caller's, or they name its number; and whoever lost one of
/// this task before must name it.
pub(crate) fn own_lease(task: &TaskRow, given: Option<u64>, desk: &Desk) -> Result<Hold, Refusal> {
    let (actor, now) = (desk.moment().actor.as_str(), desk.moment().now_ms);
    let refused =
        |reason: String, help: &str| Err(Refusal::new(Code::ConcurrencyConflict, reason, help).of_run(&task.run));
    let hold = desk.lease(&task.lease_name()).filter(|hold| hold.deadline > now);
    let Some(hold) = hold.filter(|_| task.status == TaskStatus::InProgress) else {
        let reason = format!("nobody works on {} at present: it is {}", task.task, task.status);
        let help = match task.status.is_final() {
            true => "what is finished stays so; if more is to be done, its orchestrator adds a task",
            false => "claim it first, and stop what was done without",
        };
        return refused(reason, help);
    };
    let lost = task.lost_by.iter().any(|it| it == actor);
    match given {
        // Whoever lost none of this task means the lease of another one, which may well be alive.
        Some(given) if given != hold.number && hold.holder == actor && !lost => {
            let reason = format!(
                "lease {given} is not that of {}, which {} holds under {}",
                task.task,
                show(actor),
                hold.number
            );
            let help =
                format!("name that one with --lease {}; COUNTERSIGN_LEASE is the lease of one task alone", hold.number);
            refused(reason, &help)
        }
        Some(given) if given != hold.number => {
            let reason = format!(
                "lease {given} of {} is gone; {} holds it since under lease {}, until {}",
                task.task,
                show(&hold.holder),
                hold.number,
                said(hold.deadline)
            );
            refused(reason, "stop; whatever you did since belongs to nobody")
        }
        _ if hold.holder != actor => {
            let reason = format!("{} is held by {}, until {}", task.task, show(&hold.holder), said(hold.deadline));
            refused(reason, "only its worker may do that; `countersign task next` shows what is free")
        }
        None if lost => {
            let reason = format!("{} lost a lease of {} before, and names none now", show(actor), task.task);
            refused(reason, "give the number that the claim printed, with --lease or COUNTERSIGN_LEASE")
        }
        _ => Ok(hold.clone()),
    }
}

/// A time in milliseconds as people and programs read it.
pub(crate) fn said(millis: i64) -> String {
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |time| time.to_string())
}

/// A task as it is by now.
pub(crate) fn again(task: &TaskRow, desk: &Desk) -> Result<TaskRow, Refusal> {
    task_of(desk.entity(&task.key())).ok_or_else(|| {
        let reason = format!("{} cannot be read back", task.task);
        Refusal::new(Code::LedgerInconsistent, reason, "run `countersign verify`").of_run(&task.run)
    })
}
