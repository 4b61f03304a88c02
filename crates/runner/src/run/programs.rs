//! Whether the programs that checks run, and those that agents are, are there at all.
//!
//! That one is missing would show only when it is to be started, and for a check that is after the work was done and paid for.

use super::ground::Ground;
use super::pinned::may_make;
use super::scripts::within;
use crate::worktree::call::{Git, pieces};
use crate::{names, program};
use countersign_contract::show;
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::{Judge, Plan};
use countersign_domain::work::scope::contains;
use std::collections::BTreeSet;
use std::path::Path;

/// A program that a plan names: what for, and its words.
type Named<'p> = (String, Vec<&'p str>);

/// Refuses a plan with a program that neither is here nor can come from a task.
///
/// # Errors
/// There is such a program, or git could not be asked. The error says what to do.
pub(super) fn must_be_there(ground: &Ground, plan: &Plan) -> Result<(), String> {
    let all: Vec<Named<'_>> = of_checks(plan).chain(of_agents(plan)).collect();
    let relative = |(_, words): &Named<'_>| words.first().is_some_and(|word| word.contains('/') && !is_whole(word));
    let there = if all.iter().any(relative) { committed(ground)? } else { BTreeSet::new() };
    for (what_for, words) in &all {
        let Some(first) = words.first() else { continue };
        if let Some(why) = missing(ground, plan, &there, first)? {
            let cure = match words.as_slice() {
                [one] if one.trim().contains(char::is_whitespace) => {
                    let list = one.split_whitespace().collect::<Vec<_>>().join(", ");
                    format!(
                        "no program has that name: a program and its arguments are written as a list, `[{}]`",
                        show(&list)
                    )
                }
                _ => why,
            };
            return Err(format!("{what_for} `{}`; {cure}", show(first)));
        }
    }
    Ok(())
}

fn of_checks(plan: &Plan) -> impl Iterator<Item = Named<'_>> {
    let criteria =
        plan.tasks.iter().flat_map(|task| task.acceptance.iter().enumerate().map(move |(n, it)| (task, n + 1, it)));
    criteria.flat_map(|(task, n, criterion)| {
        machine_checks(criterion).filter_map(|check| check.program()).map(move |words| {
            let words = words.iter().map(|word| word.as_str()).collect();
            (format!("criterion AC-{n} of {} is checked with", task.id), words)
        })
    })
}

/// Those of agents that have something to do.
fn of_agents(plan: &Plan) -> impl Iterator<Item = Named<'_>> {
    let gates = plan.gates.as_ref();
    let judge = gates.and_then(|gates| match gates.judge.as_ref()? {
        Judge::Named(name) => Some(name.as_str()),
        Judge::Endpoint(_) => None,
    });
    let validators = gates.into_iter().flat_map(|it| it.validate.iter().flat_map(|names| names.iter()));
    let workers = plan.tasks.iter().map(|task| task.agent.as_str());
    let busy: BTreeSet<&str> = workers.chain(validators.map(|name| name.as_str())).chain(judge).collect();
    plan.agents.iter().filter(move |(name, _)| busy.contains(name.as_str())).filter_map(|(name, agent)| {
        let words = agent.command.as_ref()?.iter().map(|word| word.as_str()).collect();
        Some((format!("agent {} is started with", show(name)), words))
    })
}

/// What is in the commit that is checked out: every file, and every submodule.
fn committed(ground: &Ground) -> Result<BTreeSet<String>, String> {
    let Some(commit) = ground.head()? else { return Ok(BTreeSet::new()) };
    let out = Git::at(ground.root()).run(&["ls-tree", "-r", "-z", "--name-only", &commit], &[])?;
    Ok(pieces(&out).map(names::resource).collect())
}

/// Why a program would not be found, and what to do; none, if it would, or nobody can tell.
fn missing(ground: &Ground, plan: &Plan, there: &BTreeSet<String>, name: &str) -> Result<Option<String>, String> {
    if !name.contains('/') {
        let found = program::is_on_path(name);
        let why = "there is no such program in the folders of PATH: install it, or write it as it is called here";
        return Ok((!found).then(|| why.to_owned()));
    }
    if is_whole(name) {
        let found = Path::new(name).exists();
        return Ok((!found).then(|| "it is not there: install it, or write its path as it is".to_owned()));
    }
    // What leads out of the checkout nobody can say anything about.
    let Some(path) = within(name) else { return Ok(None) };
    let place = names::resource(path.as_bytes());
    let lies = ground.root().join(&path).exists();
    let found = match ground.head()? {
        Some(_) => there.iter().any(|it| *it == place || is_module(ground, it, &place)),
        None => lies,
    };
    if found || plan.tasks.iter().any(|task| may_make(task, &place)) {
        return Ok(None);
    }
    Ok(Some(match (ground.trees().is_some(), lies) {
        (true, true) => {
            "it lies here and is not committed, and checkouts of commits do not have it: commit it first, or give its whole path"
        }
        (true, false) => "it is in no commit, and no task may make it: write it as git has it",
        (false, _) => "it is not there, and no task may make it: write its path from the project's folder",
    }
    .to_owned()))
}

/// Whether something lies in a submodule of a name.
fn is_module(ground: &Ground, name: &str, place: &str) -> bool {
    name != place && contains(name, place) && ground.root().join(name).is_dir()
}

fn is_whole(name: &str) -> bool {
    Path::new(name).is_absolute()
}
