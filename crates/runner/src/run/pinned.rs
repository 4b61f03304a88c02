//! Whether what a plan pins is there before the work.
//!
//! A name that is mistyped pins nothing: the files that were meant would be the worker's to change, and nobody would be told.

use super::ground::Ground;
use crate::names;
use crate::worktree::call::{Git, pieces};
use countersign_contract::show;
use countersign_domain::plan::payload::{Criterion, Plan, PlannedTask};
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::overlap;
use std::collections::BTreeSet;

/// Refuses a plan that pins what neither is in the commit that is checked out nor can come from a task before.
///
/// # Errors
/// There is such a file, or git could not be asked. The error says what to do.
pub(super) fn must_be_there(ground: &Ground, plan: &Plan) -> Result<(), String> {
    let pins = plan.tasks.iter().flat_map(|task| of(task).map(move |(criterion, pin)| (task, criterion, pin)));
    let mut pins = pins.peekable();
    let (Some(commit), true) = (ground.head()?, pins.peek().is_some()) else { return Ok(()) };
    let out = Git::at(ground.root()).run(&["ls-tree", "-r", "-t", "-z", "--name-only", &commit], &[])?;
    let there: BTreeSet<String> = pieces(&out).map(names::resource).collect();
    for (task, criterion, pin) in pins {
        if there.contains(pin) || before(plan, task).iter().any(|task| may_make(task, pin)) {
            continue;
        }
        let shown = show(pin);
        let lies = ground.root().join(pin).symlink_metadata().is_ok();
        let cure = if lies { "it lies there and is not committed: commit it first" } else { "write it as git has it" };
        return Err(format!(
            "criterion AC-{criterion} of {} pins `{shown}`, which is not in commit {}, and no task that it depends on may make \
             it; {cure}, or leave it out",
            task.id,
            commit.get(..10).unwrap_or(&commit)
        ));
    }
    Ok(())
}

/// What the criteria of a task pin, each with the number of its criterion.
fn of<'t>(task: &'t PlannedTask) -> impl Iterator<Item = (usize, &'t str)> {
    let pins = |(n, criterion): (usize, &'t Criterion)| {
        criterion.pin.iter().flat_map(|pins| pins.iter()).map(move |pin| (n + 1, pin.place()))
    };
    task.acceptance.iter().enumerate().flat_map(pins)
}

/// All tasks that are done before one is begun.
fn before<'p>(plan: &'p Plan, task: &PlannedTask) -> Vec<&'p PlannedTask> {
    let mut names: Vec<String> = plan.needs(task).iter().map(|id| id.as_str().to_owned()).collect();
    let mut found: Vec<&PlannedTask> = Vec::new();
    while let Some(name) = names.pop() {
        let is_new = !found.iter().any(|it| it.id.as_str() == name);
        if let Some(task) = plan.tasks.iter().find(|it| it.id.as_str() == name).filter(|_| is_new) {
            names.extend(plan.needs(task).iter().map(|id| id.as_str().to_owned()));
            found.push(task);
        }
    }
    found
}

/// Whether something can come from a task.
pub(super) fn may_make(task: &PlannedTask, pin: &str) -> bool {
    task.lock_scope.iter().any(|place| overlap(place.place(), pin))
}
