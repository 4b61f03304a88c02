//! Whether the programs that checks run, and those that agents are, are there at all.
//!
//! That one is missing would show only when it is to be started, and for a check that is after the work was done and paid for.

use super::ground::Ground;
use super::pinned::may_make;
use super::scripts::within;
use super::unseen::few;
use crate::worktree::call::{Git, pieces};
use crate::{names, program};
use countersign_contract::show;
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::{Judge, Plan, PlannedTask};
use countersign_domain::work::scope::contains;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How git begins what it says of a file that cannot be executed.
const PLAIN: &[u8] = b"100644 ";

/// A program that a plan names.
struct Named<'p> {
    what_for: String,
    words: Vec<&'p str>,
    /// The tasks that need it.
    tasks: Vec<&'p PlannedTask>,
    is_check: bool,
}

impl Named<'_> {
    /// Whether others have worked whenever it is needed: they may have brought it, wherever it belongs.
    fn comes_later(&self, plan: &Plan) -> bool {
        self.tasks.iter().all(|task| !plan.needs(task).is_empty())
    }

    /// What it is written as instead of a list.
    fn one_text(&self) -> Option<&str> {
        match self.words.as_slice() {
            [one] if one.trim().contains(char::is_whitespace) => Some(one),
            _ => None,
        }
    }
}

/// Why a program would not be found, and what to do.
struct Missing<'p> {
    named: Named<'p>,
    why: String,
    /// Whether it may be there by the time it is needed.
    may_come: bool,
}

impl Missing<'_> {
    fn says(&self) -> String {
        let cure = match self.named.one_text() {
            Some(one) => {
                let list = one.split_whitespace().collect::<Vec<_>>().join(", ");
                format!(
                    "no program has that name: a program and its arguments are written as a list, `[{}]`",
                    show(&list)
                )
            }
            None => self.why.clone(),
        };
        let first = self.named.words.first().copied().unwrap_or_default();
        format!("{} `{}`; {cure}", self.named.what_for, show(first))
    }
}

/// Refuses a plan with a program that neither is here nor can come from a task.
///
/// # Errors
/// There is such a program, or git could not be asked. The error says what to do.
pub(super) fn must_be_there(ground: &Ground, plan: &Plan) -> Result<(), String> {
    match all_missing(ground, plan)?.iter().find(|it| !it.may_come) {
        Some(missing) => Err(missing.says()),
        None => Ok(()),
    }
}

/// The programs that are not here, and must come from somebody who works before they are needed.
pub(super) fn told(ground: &Ground, plan: &Plan, left: &[&PlannedTask]) -> Result<Option<String>, String> {
    let is_left = |task: &&PlannedTask| left.iter().any(|it| it.id == task.id);
    let missing = all_missing(ground, plan)?.into_iter().filter(|it| it.named.tasks.iter().any(is_left));
    let missing: Vec<String> = missing.map(|it| it.says()).collect();
    let says = |all: &str| format!("programs that are not here must come from the work before they are needed: {all}");
    Ok((!missing.is_empty()).then(|| says(&few(&missing))))
}

fn all_missing<'p>(ground: &Ground, plan: &'p Plan) -> Result<Vec<Missing<'p>>, String> {
    let all: Vec<Named<'p>> = of_checks(plan).chain(of_agents(plan)).collect();
    let relative = |it: &Named<'_>| it.words.first().is_some_and(|word| word.contains('/') && !is_whole(word));
    let there = if all.iter().any(relative) { committed(ground)? } else { BTreeMap::new() };
    let mut found = Vec::new();
    for named in all {
        let Some(why) = named.words.first().map(|first| missing(ground, plan, &there, first)).transpose()?.flatten()
        else {
            continue;
        };
        // Without a repository a check runs where the work was done, and finds whatever that left.
        let is_left = ground.trees().is_none() && named.is_check && relative(&named);
        let in_commit = ground.trees().is_some() && relative(&named);
        let may_come = named.one_text().is_none() && !in_commit && (is_left || named.comes_later(plan));
        found.push(Missing { named, why, may_come });
    }
    Ok(found)
}

fn of_checks(plan: &Plan) -> impl Iterator<Item = Named<'_>> {
    let criteria =
        plan.tasks.iter().flat_map(|task| task.acceptance.iter().enumerate().map(move |(n, it)| (task, n + 1, it)));
    criteria.flat_map(|(task, n, criterion)| {
        machine_checks(criterion).filter_map(|check| check.program()).map(move |words| Named {
            what_for: format!("criterion AC-{n} of {} is checked with", task.id),
            words: words.iter().map(|word| word.as_str()).collect(),
            tasks: vec![task],
            is_check: true,
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
    let at_gates: BTreeSet<&str> = validators.map(|name| name.as_str()).chain(judge).collect();
    plan.agents.iter().filter_map(move |(name, agent)| {
        let is_theirs = |task: &&PlannedTask| at_gates.contains(name.as_str()) || task.agent.as_str() == name.as_str();
        let words = match (&agent.command, agent.preset) {
            (Some(command), _) => command.iter().map(|word| word.as_str()).collect(),
            (None, Some(preset)) => vec![preset.as_str()],
            (None, None) => return None,
        };
        let what_for = format!("agent {} is started with", show(name));
        let tasks: Vec<&PlannedTask> = plan.tasks.iter().filter(is_theirs).collect();
        (!tasks.is_empty()).then_some(Named { what_for, words, tasks, is_check: false })
    })
}

/// What is in the commit that is checked out: every file and every submodule, and whether it could be started.
fn committed(ground: &Ground) -> Result<BTreeMap<String, bool>, String> {
    let Some(commit) = ground.head()? else { return Ok(BTreeMap::new()) };
    let out = Git::at(ground.root()).run(&["ls-tree", "-r", "-z", &commit], &[])?;
    let of = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        Some((names::resource(&line[tab + 1..]), !line.starts_with(PLAIN)))
    };
    Ok(pieces(&out).filter_map(of).collect())
}

/// Why a program would not be found, and what to do; none, if it would, or nobody can tell.
fn missing(ground: &Ground, plan: &Plan, there: &BTreeMap<String, bool>, name: &str) -> Result<Option<String>, String> {
    if !name.contains('/') {
        let found = program::is_on_path(name);
        let why = "there is no such program in the folders of PATH: install it, or write it as it is called here";
        return Ok((!found).then(|| why.to_owned()));
    }
    if is_whole(name) {
        return Ok(unusable(Path::new(name), "it is not there: install it, or write its path as it is"));
    }
    // What leads out of the checkout nobody can say anything about.
    let Some(path) = within(name) else { return Ok(None) };
    let place = names::resource(path.as_bytes());
    if plan.tasks.iter().any(|task| may_make(task, &place)) {
        return Ok(None);
    }
    let lies = ground.root().join(&path);
    if ground.head()?.is_none() {
        let why = "it is not there, and no task may make it: write its path from the project's folder";
        return Ok(unusable(&lies, why));
    }
    Ok(match there.get(&place) {
        Some(true) => None,
        Some(false) => Some("it is committed as a file that cannot be executed: `git add --chmod=+x` it, and commit that"),
        None if there.keys().any(|it| is_module(ground, it, &place)) => None,
        None if lies.exists() => Some(
            "it lies here and is not committed, and checkouts of commits do not have it: commit it first, or give its whole path",
        ),
        None => Some("it is in no commit, and no task may make it: write it as git has it"),
    }
    .map(str::to_owned))
}

/// Why a file could not be started.
fn unusable(path: &Path, gone: &str) -> Option<String> {
    if !path.exists() {
        return Some(gone.to_owned());
    }
    (!program::is_program(path)).then(|| "it is there, and is no file that can be executed: `chmod +x` it".to_owned())
}

/// Whether something lies in a submodule of a name.
fn is_module(ground: &Ground, name: &str, place: &str) -> bool {
    name != place && contains(name, place) && ground.root().join(name).is_dir()
}

fn is_whole(name: &str) -> bool {
    Path::new(name).is_absolute()
}
