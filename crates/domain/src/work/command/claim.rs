//! Taking a task: the one that is named, or the best that is ready.

use super::{TASK_CODES, TASK_VIEWS, TaskAnswer, task_answer};
use crate::deciding::{
    Answered, Command, CommandInfo, Desk, Happening, LeaseStep, Moment, NO_COMMIT, Need, Observed, Observer, Refusal,
    Role, Seen, Tree, Writes,
};
use crate::ids::{RunId, TaskId};
use crate::work::event::TASK_CLAIMED;
use crate::work::row::{Base, RunRow, TaskRow, task_at, task_key};
use crate::work::task_state::TaskStatus;
use crate::work::{attempt, choosing, holding, picking, steering};
use countersign_contract::diagnostic::Code;
use countersign_contract::{shape, show};
use serde_json::json;

/// How many files may differ from the commit when a task begins. Each is noted, so that the end can be told from it.
const DIRTY_MAX: usize = 2000;

shape! {
    /// Take a task: nobody else may work on it or change its files until its lease ends.
    pub closed struct Claim {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task; the best that is ready, if it is not named.
        pub task_id: Option<TaskId>,
    }
}

impl Command for Claim {
    const INFO: CommandInfo = CommandInfo {
        id: "task.claim",
        summary: "Take a task under a lease: the one named, or the best that is ready",
        may: &[Role::Agent, Role::Orchestrator],
        invalidates: TASK_VIEWS,
        refuses: CODES,
        writes: Writes::Events,
    };
    type Answer = TaskAnswer;

    fn observe(&self, observer: &dyn Observer) -> Result<Observed, Refusal> {
        Ok(Observed { tree: observer.tree(None), ..Observed::default() })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let now = moment.now_ms;
        let Some(task) = &self.task_id else { return choosing::needs(self.run_id.as_ref(), seen, now, &moment.actor) };
        let mut needs = picking::task_needs(self.run_id.as_ref(), task, seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        let row = run.and_then(|run| task_at(seen.so_far(&task_key(&run, task.as_str()))));
        if let Some(row) = row {
            let scope = row.spec.lock_scope.iter().map(String::as_str);
            needs.extend(holding::needs_at(scope, Some(&row.key()), seen, now));
        }
        needs
    }

    fn decide(&self, desk: &mut Desk, observed: &Observed) -> Result<(), Refusal> {
        let run = picking::open_run_at(self.run_id.as_ref(), desk.seen())?;
        let task = match &self.task_id {
            Some(task) => picking::task_at(&run, task, desk.seen())?,
            None => choosing::best(&run, desk)?.into(),
        };
        let actor = desk.moment().actor.clone();
        // Also by the same worker: what it forgot, such as the number, is told with the refusal.
        let now = desk.moment().now_ms;
        if let Some(hold) = desk.lease(&task.lease_name()).filter(|hold| hold.deadline > now) {
            let holder = show(&hold.holder);
            let reason = format!(
                "{} is held by {holder} under lease {}, until {}",
                task.task,
                hold.number,
                picking::said(hold.deadline)
            );
            let help = if hold.holder == actor {
                "you have it already; go on under that lease"
            } else {
                "choose another: `countersign task next` shows the best one that is free"
            };
            return Err(Refusal::new(Code::ConcurrencyConflict, reason, help).of_run(&run.run));
        }
        claim(desk, &run, &task, &actor, observed.tree.as_ref())
    }

    fn answer(&self, stored: &Answered<'_>) -> TaskAnswer {
        task_answer(stored)
    }
}

pub(super) const CODES: &[Code] = &[
    Code::MissingRequiredInput,
    Code::LockConflict,
    Code::DependencyNotMet,
    Code::InvalidTransition,
    Code::ConcurrencyConflict,
    Code::AuthorizationMissing,
];
const _: () = assert!(CODES.len() == TASK_CODES.len() + 2);

/// What keeps a task from being begun is no reason to wait for it, if it is never begun again. Which code comes first is the
/// same for every task; what is said is not.
fn of_finished(task: &TaskRow, refusal: Refusal) -> Refusal {
    if !task.status.is_final() {
        return refusal;
    }
    let reason = format!("{} is {} and stays so; besides, {}", task.task, task.status, refusal.reason);
    Refusal { reason, help: picking::FINISHED.into(), ..refusal }
}

/// Gives a task to a worker: dependencies done, scope free, and a lease.
pub(super) fn claim(
    desk: &mut Desk,
    run: &RunRow,
    task: &TaskRow,
    worker: &str,
    tree: Option<&Tree>,
) -> Result<(), Refusal> {
    if attempt::settle(desk, task) {
        let task = picking::again(task, desk)?;
        return claim(desk, run, &task, worker, tree);
    }
    steering::must_be_given(run, task, worker, desk)?;
    if task.spec.led && run.led_by.as_deref() != Some(desk.moment().authn.as_str()) {
        let reason = format!("{} is an action, which only the process that carries the run out takes", task.task);
        let help = "go on with the run: `countersign run --resume`";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
    }
    let now = desk.moment().now_ms;
    let scope = task.spec.lock_scope.iter().map(String::as_str);
    let others = holding::others(scope, Some(&task.key()), desk.seen(), now);
    if let Some(holder) = others.alive.first() {
        return Err(of_finished(task, holder.refusal(&run.run)));
    }
    // Somebody whose lease has lapsed holds nothing, even if nobody was awake to say so.
    for holder in &others.lapsed {
        if !attempt::settle(desk, &holder.task) {
            return Err(of_finished(task, holder.refusal(&run.run)));
        }
    }
    if !others.all {
        return Err(of_finished(task, holding::too_many(&run.run)));
    }
    if !task.waiting_for.is_empty() {
        let reason = format!("{} waits for {}", task.task, task.waiting_for.join(", "));
        let refusal = Refusal::new(Code::DependencyNotMet, reason, "those must be done first").of_run(&run.run);
        return Err(of_finished(task, refusal));
    }
    if task.status == TaskStatus::Blocked {
        let why = task.blocker.as_ref().map(|it| format!(": {} ({})", it.reason, it.code)).unwrap_or_default();
        let reason = format!("{} is blocked{why}", task.task);
        let help = "its orchestrator decides how it goes on: `countersign task unblock` or `countersign task replan`";
        return Err(Refusal::new(Code::InvalidTransition, reason, help).of_run(&run.run));
    }
    picking::may_become(task, TaskStatus::InProgress)?;
    let mut facts = json!({
        "attempt": task.attempt + 1, "from": task.status.as_str(), "owner": worker, "reason": "claimed", "run": run.run,
        "task": task.task, "timeout_seconds": task.spec.timeout_seconds, "to": TaskStatus::InProgress.as_str(),
    });
    if let Some(base) = tree.and_then(|tree| base_of(tree, task.gated)) {
        if base.dirty.len() > DIRTY_MAX {
            let count = base.dirty.len();
            let reason = format!("{count} files differ from the commit, too many to tell later what the work changed");
            let help = format!("commit, stash or ignore them first; at most {DIRTY_MAX} may differ");
            return Err(Refusal::new(Code::DependencyNotMet, reason, help).of_run(&run.run));
        }
        facts["base"] = json!(base);
    }
    if task.spec.led {
        facts["led"] = json!(true);
    }
    let ttl = task.spec.timeout_seconds * 1000;
    let lease = LeaseStep::Grant { holder: worker.to_owned(), name: task.lease_name(), ttl };
    desk.record(Happening::of_run(TASK_CLAIMED, &run.run, attempt::of_task(facts, task)).with_lease(lease));
    Ok(())
}

/// What the work begins with. A repository without a commit has nothing that a claim could be merged with, but what was
/// changed in it can be told.
fn base_of(tree: &Tree, gated: bool) -> Option<Base> {
    let commit = tree.commit.clone().or_else(|| (!gated).then(|| NO_COMMIT.to_owned()))?;
    Some(Base { commit, dirty: tree.changed.clone() })
}
