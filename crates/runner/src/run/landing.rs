//! What passed its gates becomes part of the tree: one at a time, and of those that wait by the fixed order of the plan,
//! whoever was ready first. Who is still worked on, or waits for a person, holds nobody up.

use super::attempt::{Attempt, stopped};
use super::no::No;
use super::rechecking::{self, Rechecked};
use super::work::{Claimed, lies_there, scope};
use super::{Note, Run, branch};
use crate::landing::{self, Claim, Landing, Prepared};
use crate::worktree::Identity;
use countersign_domain::plan::order;
use countersign_domain::plan::payload::Plan;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often it is begun anew when people move HEAD while it is looked at what would land.
const MOVES_MAX: usize = 3;

/// How long is waited for another git that is at work where it lands: most are done in a moment.
const PATIENCE: Duration = Duration::from_secs(10);

/// Who waits to land, by their place in the fixed order of the plan.
pub(super) struct Queue {
    /// The place of each task.
    places: Vec<usize>,
    line: Mutex<Line>,
    bell: Condvar,
}

#[derive(Default)]
struct Line {
    /// Those who wait: their place, and their number.
    waiting: BTreeSet<(usize, usize)>,
    /// Who lands.
    busy: Option<usize>,
}

/// Somebody's turn. It ends when this is dropped.
struct Turn<'q>(&'q Queue);

impl Queue {
    /// Nobody waits yet.
    pub(super) fn of(plan: &Plan) -> Self {
        Self { places: order::places(plan), line: Mutex::default(), bell: Condvar::new() }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody lands and nobody who waits comes earlier in the plan. Whoever has to wait is told for whom, once
    /// they are in the line.
    fn turn(&self, number: usize, waits: impl FnOnce(usize)) -> Turn<'_> {
        let own = (self.places.get(number).copied().unwrap_or(usize::MAX), number);
        let mut line = self.line();
        line.waiting.insert(own);
        if let Some(other) = line.busy {
            waits(other);
        }
        while line.busy.is_some() || line.waiting.first() != Some(&own) {
            line = self.bell.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        line.waiting.remove(&own);
        line.busy = Some(number);
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.line().busy = None;
        self.0.bell.notify_all();
    }
}

/// What a landed commit is known by. One that was claimed is landed once, however often it is tried.
pub(super) fn trailers(run: &Run<'_>, attempt: &Attempt<'_>) -> Vec<(String, String)> {
    [("Countersign-Run", run.setup.run.to_owned()), ("Countersign-Task", attempt.task().to_owned())]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// What a commit says, the claimed one and the landed one.
pub(super) fn message(attempt: &Attempt<'_>) -> String {
    format!("{}: {}", attempt.task(), attempt.planned.title.as_str())
}

/// Lands what passed its gates, and says so: the task is done.
pub(super) fn land(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed) -> Result<(), No> {
    let _turn = run.landing.turn(attempt.number, |other| {
        let other = run.setup.plan.tasks.get(other).map_or("", |task| task.id.as_str());
        run.note(&Note::Queued { task: attempt.task(), behind: other });
    });
    super::validating::keep_alive(run, attempt);
    let (bound, commit) = match &claimed.base {
        None => (run.ground.content(&scope(attempt)).map_err(No::from)?, None),
        Some(base) => match gone_on(run, attempt, claimed, base)? {
            Some(found) => (found, None),
            None => match into_the_tree(run, attempt, claimed, base)? {
                Some(commit) => (claimed.bound.clone(), Some(commit)),
                None => return Ok(()),
            },
        },
    };
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["bound"] = json!(bound);
    request["commit"] = json!(commit);
    run.desk.ask("gate.land", &request)?;
    let shown = run.desk.look("task.show", &run.desk.of_task(attempt.task())).unwrap_or_default();
    let assurance = shown["task"]["assurance"].as_str().unwrap_or("verified");
    run.note(&Note::Done { task: attempt.task(), assurance });
    Ok(())
}

/// What lies there where a peer has gone on in the project's folder since it was looked at what it claims. None, if it has not.
fn gone_on(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, base: &str) -> Result<Option<String>, No> {
    if attempt.agent.peer != Some(true) {
        return Ok(None);
    }
    Ok(Some(lies_there(run, attempt, base)?).filter(|found| *found != claimed.bound))
}

/// Brings the claimed commit into the tree. None, if it cannot be: a person is asked, or it is tried again.
fn into_the_tree(run: &Run<'_>, attempt: &Attempt<'_>, claimed: &Claimed, base: &str) -> Result<Option<String>, No> {
    let trailers = trailers(run, attempt);
    let message = message(attempt);
    let place = run.ground.layout().ok_or_else(|| No::from("there is no repository".to_owned()))?;
    let claim = Claim {
        place,
        commit: &claimed.bound,
        base,
        message: &message,
        trailers: &trailers,
        identity: &Identity::default(),
        is_whole: true,
        was_tried: !claimed.is_new,
        patience: PATIENCE,
    };
    for _ in 0..MOVES_MAX {
        let landing = match branch::is_other(run, attempt, place)? {
            Some(why) => land_it(run, attempt, None, || Landing::Failed(why))?,
            None => match rechecking::recheck(run, attempt, claimed, &claim)? {
                Rechecked::Broken => return Ok(None),
                Rechecked::Settled(landing) => land_it(run, attempt, None, || landing)?,
                Rechecked::Holds(prepared) => {
                    land_it(run, attempt, Some(&prepared), || landing::land_prepared(&claim, &prepared))?
                }
            },
        };
        match &landing {
            Landing::Landed { commit, .. } | Landing::Already { commit } => {
                run.note(&Note::Landed { task: attempt.task(), commit });
                return Ok(Some(commit.clone()));
            }
            Landing::Moved => {}
            Landing::Conflict { .. } | Landing::Dirty { .. } | Landing::Failed(_) => {
                let (obstacle, reason) = obstacle(attempt, &landing);
                return hold_back(run, attempt, obstacle, &reason).map(|()| None);
            }
        }
    }
    let why = format!("HEAD was moved by somebody else {MOVES_MAX} times; then {}", unblock(attempt));
    hold_back(run, attempt, "landing", &why).map(|()| None)
}

/// Lands, with the effect in the ledger before: by what stands there, whoever meets the commit on the branch knows it for the
/// run's own.
fn land_it(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    prepared: Option<&Prepared>,
    land: impl FnOnce() -> Landing,
) -> Result<Landing, No> {
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["kind"] = json!("landing");
    request["mark"] = prepared.map_or(Value::Null, |it| json!({ "commit": it.commit, "was": it.head }));
    run.desk.ask("effect.start", &request)?;
    Ok(land())
}

/// What is in the way of a landing, and what can be done about it.
fn obstacle(attempt: &Attempt<'_>, landing: &Landing) -> (&'static str, String) {
    match landing {
        Landing::Conflict { paths, ours, theirs } => {
            let ours: Vec<String> = ours
                .iter()
                .map(|touch| {
                    let task = touch.task.as_deref().map(|task| format!(" ({task})")).unwrap_or_default();
                    format!("{}{task} `{}`", touch.commit.get(..10).unwrap_or(&touch.commit), touch.subject)
                })
                .collect();
            let theirs = theirs.get(..10).unwrap_or(theirs);
            let (paths, ours) = (paths.join(", "), ours.join(", "));
            let (task, unblock) = (attempt.task(), unblock(attempt));
            let cure = format!("to have it done anew on top of that: {unblock}");
            ("conflict", format!("{paths} cannot be merged: changed by {ours}, and by {task} in {theirs}; {cure}"))
        }
        Landing::Dirty { paths } => {
            let paths = paths.join(", ");
            let cure = format!("commit or stash them, then {}", unblock(attempt));
            ("landing", format!("{paths} has changes that are not committed; {cure}"))
        }
        Landing::Failed(why) => ("landing", format!("{why}; then {}", unblock(attempt))),
        Landing::Landed { .. } | Landing::Already { .. } | Landing::Moved => ("landing", String::new()),
    }
}

/// What cannot land waits for a person.
fn hold_back(run: &Run<'_>, attempt: &Attempt<'_>, obstacle: &str, reason: &str) -> Result<(), No> {
    let reason: String = reason.chars().take(1900).collect();
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["kind"] = json!("landing");
    request["outcome"] = json!(format!("not landed: {obstacle}"));
    run.desk.ask("effect.finish", &request)?;
    let mut request = run.desk.of_task(attempt.task());
    request["lease"] = json!(attempt.lease);
    request["obstacle"] = json!(obstacle);
    request["reason"] = json!(reason);
    run.desk.ask("gate.hold", &request)?;
    stopped(run, attempt.task(), &reason);
    Ok(())
}

/// What is typed when the obstacle is out of the way.
fn unblock(attempt: &Attempt<'_>) -> String {
    format!("`countersign task unblock {} --reason TEXT`, as `countersign inbox` has it", attempt.task())
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_domain::plan::command::read;
    use std::sync::mpsc;

    /// Tasks that are written in another order than they depend on each other: T-4 comes after T-1, T-2 after T-3.
    fn plan() -> Plan {
        let task = |id: &str, after: &str| {
            json!({
                "id": id, "title": "t", "agent": "a", "lock_scope": [format!("src/{id}")], "depends_on": after.split_terminator(' ').collect::<Vec<_>>(),
                "acceptance": [{ "text": "it is there", "check": { "file": { "path": "src" } } }],
            })
        };
        let tasks = [task("T-4", "T-1"), task("T-1", ""), task("T-2", "T-3"), task("T-3", ""), task("T-5", "")];
        read(
            &json!({ "plan": "1.0", "objective": "o", "agents": { "a": { "command": ["a"] } }, "tasks": tasks })
                .to_string(),
        )
        .unwrap()
    }

    #[test]
    fn places_follow_dependencies_then_the_plan() {
        // T-1, T-4, T-3, T-2, T-5.
        assert_eq!(order::places(&plan()), [1, 0, 3, 2, 4]);
    }

    #[test]
    fn whoever_waits_lands_by_the_fixed_order_whoever_was_ready_first() {
        let queue = Queue::of(&plan());
        let (ready, heard) = mpsc::channel();
        let landed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let first = queue.turn(4, |_| panic!("nobody else lands"));
            for number in [2, 0, 3, 1] {
                let (queue, landed, ready) = (&queue, &landed, ready.clone());
                scope.spawn(move || {
                    let _turn = queue.turn(number, |other| {
                        assert_eq!(other, 4);
                        ready.send(()).unwrap();
                    });
                    landed.lock().unwrap().push(number);
                });
                // The next one comes when this one waits.
                heard.recv().unwrap();
            }
            drop(first);
        });
        assert_eq!(*landed.lock().unwrap(), [1, 0, 3, 2]);
    }
}
