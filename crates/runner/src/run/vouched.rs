//! The files that decide about the work are what they were when the run began, moved on by what the run itself has landed.
//!
//! HEAD is anybody's to move, also an agent's whose work is tested with files of it: what it commits to the branch in one
//! attempt would be "as before the work" in the next one. So whoever else has moved HEAD is asked about it, where pinned files
//! or files of a validator's or judge's command have changed by that. A person's answer counts for what they were told.
//!
//! **Invariant:** where HEAD is moved by landings alone, git is not asked.

use super::attempt::Attempt;
use super::desk::No;
use super::{Run, checkouts};
use crate::worktree::call::{Git, is_commit};
use crate::worktree::change::{Change, between, called};
use countersign_domain::plan::payload::{Plan, PlannedTask};
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;
use countersign_domain::work::task_state::TaskStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many files are named at a time.
const NAMED_MAX: usize = 20;

/// What the branch was when the run began, and how far it is known to be that or the run's own.
pub(super) struct Vouched {
    /// The commit that was checked out then. None where there is no repository.
    began: Option<String>,
    /// The last one in which nothing that decides was changed by anybody else.
    known: Mutex<Option<String>>,
}

impl Vouched {
    /// For a run that began at a commit, today or some time ago.
    pub(super) fn since(began: Option<String>) -> Self {
        Self { known: Mutex::new(began.clone()), began }
    }

    /// The run itself has moved HEAD.
    pub(super) fn landed(&self, was: &str, commit: &str) {
        let mut known = self.known();
        if known.as_deref() == Some(was) {
            *known = Some(commit.to_owned());
        }
    }

    fn known(&self) -> MutexGuard<'_, Option<String>> {
        // Nobody leaves it half changed.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses to go on with a task at a commit in which somebody else has changed what decides about it, until a person has
/// looked at that.
///
/// # Errors
/// That is so, or it cannot be told.
pub(super) fn must_be(run: &Run<'_>, attempt: &Attempt<'_>, commit: &str) -> Result<(), No> {
    match strange(run, attempt, commit).map_err(No::from)? {
        None => Ok(()),
        Some(reason) => Err(No { code: Some("SCOPE_VIOLATION".to_owned()), reason }),
    }
}

/// What somebody else has changed of what decides about a task, in a sentence, unless a person has accepted it.
pub(super) fn strange(run: &Run<'_>, attempt: &Attempt<'_>, commit: &str) -> Result<Option<String>, String> {
    let Some(began) = &run.vouched.began else { return Ok(None) };
    if run.vouched.known().as_deref() == Some(commit) {
        return Ok(None);
    }
    let plan = run.setup.plan;
    let all: Vec<String> = plan.tasks.iter().flat_map(|planned| deciding(plan, planned)).collect();
    let found = unexplained(run, began, commit, &all)?;
    if found.is_empty() {
        *run.vouched.known() = Some(commit.to_owned());
        return Ok(None);
    }
    let own = deciding(plan, attempt.planned);
    let mut told = Vec::new();
    for (path, now) in found.into_iter().filter(|(path, _)| is_among(&own, path)) {
        let words = format!("{path} ({now})");
        if !run.desk.was_accepted(attempt.task(), &words)? {
            told.push(words);
        }
    }
    if told.is_empty() {
        return Ok(None);
    }
    told.truncate(NAMED_MAX);
    let (told, began) = (told.join(", "), began.get(..10).unwrap_or(began));
    Ok(Some(format!(
        "what decides about it was changed on the branch since {began}, and no task of the run has landed that: {told}; \
         `git log {began}.. -- PATH` shows who did; put it back, or accept it as it is with the command that `countersign inbox` shows for {}",
        attempt.task()
    )))
}

/// The files that decide about a task and are not the worker's: those that are pinned, and those of the commands of whoever
/// validates and judges.
fn deciding(plan: &Plan, planned: &PlannedTask) -> Vec<String> {
    let pins = planned.acceptance.iter().flat_map(|it| it.pin.iter().flat_map(|pins| pins.iter()));
    let workers = |name: &str| plan.tasks.iter().any(|task| task.agent.as_str() == name);
    let lookers = plan.agents.iter().filter(|(name, _)| !workers(name));
    let words = lookers.flat_map(|(_, agent)| agent.command.iter().flat_map(|words| words.iter()));
    let words = words.map(|word| word.as_str()).filter(|word| checkouts::is_plain(word));
    pins.map(|path| path.place().to_owned()).chain(words.map(str::to_owned)).collect()
}

fn is_among(places: &[String], path: &str) -> bool {
    places.iter().any(|place| contains(place, path))
}

/// The files among some that differ between two commits, and not because a task of the run has landed them so; each with what
/// it is now.
fn unexplained(run: &Run<'_>, old: &str, new: &str, places: &[String]) -> Result<Vec<(String, String)>, String> {
    let Some(layout) = run.ground.layout() else { return Ok(Vec::new()) };
    let (git, prefix) = (Git::at(&layout.top), layout.prefix.as_bytes());
    let mut left: Vec<(String, Change)> = between(&git, old, new)?
        .into_iter()
        .map(|change| (called(&change.name, prefix), change))
        .filter(|(path, _)| is_among(places, path))
        .collect();
    for planned in run.setup.plan.tasks.iter() {
        let scope: Vec<String> = planned.lock_scope.iter().map(|path| path.place().to_owned()).collect();
        if !left.iter().any(|(path, _)| is_among(&scope, path)) {
            continue;
        }
        let task = planned.id.as_str();
        let is_done = run.desk.row(task)?.is_some_and(|row| row.status == TaskStatus::Done);
        let Some(landed) = run.desk.bound(task)?.filter(|it| is_done && is_commit(it)) else { continue };
        // Whatever is the same in what it claimed came through its gates.
        let other: Vec<Vec<u8>> = between(&git, &landed, new)?.into_iter().map(|change| change.name).collect();
        left.retain(|(path, change)| !is_among(&scope, path) || other.contains(&change.name));
    }
    let now = |change: &Change| match change.after() {
        Some((_, object)) => format!("now {}", object.get(..10).unwrap_or(object)),
        None => "gone".to_owned(),
    };
    Ok(left.iter().map(|(path, change)| (path.clone(), now(change))).collect())
}
