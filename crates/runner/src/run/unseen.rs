//! What lies in the project's folder and whoever works elsewhere does not find, or cannot bring back.

use super::ground::Ground;
use super::programs;
use crate::names;
use crate::worktree::call::{Git, pieces};
use crate::worktree::change::{called, inside};
use crate::worktree::modules::{MODULES_MAX, Module};
use countersign_contract::show;
use countersign_domain::plan::payload::{Plan, PlannedTask};
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;

/// How many names are told.
const TOLD: usize = 5;

/// Refuses a plan with a scope in a submodule: what is changed there is no part of a commit, and cannot land.
///
/// # Errors
/// There is such a scope, or git could not be asked. The error says what to do.
pub(super) fn must_land(ground: &Ground, plan: &Plan) -> Result<(), String> {
    let modules = modules(ground, |_| true)?;
    for (task, place) in plan.tasks.iter().flat_map(|task| task.lock_scope.iter().map(move |place| (task, place))) {
        if let Some(module) = modules.iter().find(|module| contains(module, place.place())) {
            return Err(format!(
                "the scope `{}` of {} is in the submodule `{}`, which is a repository of its own: nothing that is changed \
                 there can land; run such a plan in a clone of the submodule",
                show(place.place()),
                task.id,
                show(module)
            ));
        }
    }
    Ok(())
}

/// The submodules of some kind in the project's folder, as resources of the project.
pub(super) fn modules(ground: &Ground, such: impl Fn(&Module) -> bool) -> Result<Vec<String>, String> {
    let (Some(layout), Some(commit)) = (ground.layout(), ground.head()?) else { return Ok(Vec::new()) };
    let prefix = layout.prefix.as_bytes();
    let modules = layout.modules(&commit)?.into_iter().filter(such);
    Ok(modules.filter_map(|module| inside(&module.name, prefix).map(names::resource)).collect())
}

/// What whoever begins the work should know of before: the tasks that are left are given. What cannot be found out is said.
pub(super) fn told(ground: &Ground, plan: &Plan, left: &[&PlannedTask]) -> Vec<String> {
    let found =
        [empty_modules(ground), more_modules(ground), edits(ground, plan, left), programs::told(ground, plan, left)];
    let unknown = |why| Some(format!("what agents would not find where they work cannot be told: {why}"));
    found.into_iter().filter_map(|it| it.unwrap_or_else(unknown)).collect()
}

/// The submodules whose folders stay empty where agents work and checks run.
fn empty_modules(ground: &Ground) -> Result<Option<String>, String> {
    let (Some(layout), Some(commit)) = (ground.layout(), ground.head()?) else { return Ok(None) };
    let missing = layout.modules(&commit)?.into_iter().filter(|module| !module.is_here());
    let named = |name: &[u8], commit: &str| {
        let commit = commit.get(..10).unwrap_or(commit);
        format!("`{}` at {commit}", show(&called(name, layout.prefix.as_bytes())))
    };
    let missing: Vec<String> = missing.map(|module| named(&module.name, &module.commit)).collect();
    Ok((!missing.is_empty()).then(|| {
        format!(
            "submodules that are not here stay empty where agents work and checks run: {}; if anything needs them, run \
             `git submodule update --init --recursive` and begin again",
            few(&missing)
        )
    }))
}

/// Whether there may be more submodules than are looked into.
fn more_modules(ground: &Ground) -> Result<Option<String>, String> {
    let (Some(layout), Some(commit)) = (ground.layout(), ground.head()?) else { return Ok(None) };
    let is_full = layout.modules(&commit)?.len() >= MODULES_MAX;
    Ok(is_full.then(|| {
        format!(
            "the first {MODULES_MAX} submodules are filled where agents work and checks run; if there are more, they stay empty"
        )
    }))
}

/// What is not committed in the scopes of those who work on commits.
fn edits(ground: &Ground, plan: &Plan, left: &[&PlannedTask]) -> Result<Option<String>, String> {
    let Some(layout) = ground.layout() else { return Ok(None) };
    let ask = ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"];
    let out = Git::at(&layout.top).run(&ask, &[])?;
    let names = pieces(&out).filter_map(|line| inside(line.get(3..)?, layout.prefix.as_bytes())).map(names::resource);
    let scopes: Vec<&str> = left
        .iter()
        .filter(|task| has_own_tree(plan, task))
        .flat_map(|task| task.lock_scope.iter().map(Placed::place))
        .collect();
    let edited: Vec<String> = names
        .filter(|name| scopes.iter().any(|scope| contains(scope, name)))
        .map(|name| format!("`{}`", show(&name)))
        .collect();
    Ok((!edited.is_empty()).then(|| {
        format!(
            "agents work on what is committed, and do not see these edits in their scopes: {}; commit them first, or work that \
             changes the same files waits for you before it lands",
            few(&edited)
        )
    }))
}

/// Whether whoever does a task works in a tree of its own.
fn has_own_tree(plan: &Plan, task: &PlannedTask) -> bool {
    plan.agents.iter().any(|(name, agent)| name == task.agent.as_str() && agent.peer != Some(true))
}

/// The first of some names, and how many there are more.
pub(super) fn few(names: &[String]) -> String {
    let first = names.iter().take(TOLD).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(TOLD) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
