//! What an agent changed around it, where there is no repository: seen by comparing the folder, and held against its scope.

use super::Run;
use super::attempt::Attempt;
use super::folder::Folder;
use super::no::No;
use countersign_contract::{Form, SIZE_MAX, parse, show};
use countersign_domain::plan::payload::PlannedTask;
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;
use serde_json::Value;

/// How many files are named.
const NAMED_MAX: usize = 20;

/// What changed while an agent worked in the project's folder.
pub(super) enum Around {
    /// What lies in its scope, what is to be told of the rest, and whether nothing at all was changed.
    Seen { own: Vec<String>, told: Option<String>, nothing: bool },
    /// Why nothing could be seen.
    Unseen(String),
}

/// What was changed and may not be.
pub(super) struct Strayed {
    how: &'static str,
    /// The files.
    pub(super) paths: Vec<String>,
}

/// Compares the folder with what it was. What changed outside of every scope is a violation if nobody else can have done it.
pub(super) fn look(run: &Run<'_>, attempt: &Attempt<'_>, before: Result<Folder, String>) -> Result<Around, Strayed> {
    let met = run.beside.met(attempt.number);
    let others = others(run, attempt.number, |number, _| met.contains(&number));
    judge(run, attempt.planned, &others, before.and_then(|mut before| before.changed()))
}

/// The same of what is known to have changed, and of those who can have done it.
pub(super) fn judge(
    run: &Run<'_>,
    planned: &PlannedTask,
    others: &[&PlannedTask],
    changed: Result<Vec<String>, String>,
) -> Result<Around, Strayed> {
    let changed = match changed {
        Ok(changed) => changed,
        Err(why) => return Ok(Around::Unseen(why)),
    };
    let (task, nothing) = (planned.id.as_str(), changed.is_empty());
    let row = run.desk.row(task).ok().flatten();
    let scope = places(planned.lock_scope.iter());
    let forbidden = places(planned.forbidden_scope.iter().flat_map(|it| it.iter()));
    let within = |places: &[String], path: &str| places.iter().any(|place| contains(place, path));
    let banned: Vec<String> = changed.iter().filter(|path| within(&forbidden, path)).cloned().collect();
    let (own, rest): (Vec<String>, Vec<String>) = changed.into_iter().partition(|path| within(&scope, path));
    let theirs =
        |path: &String| others.iter().any(|it| it.lock_scope.iter().any(|place| contains(place.place(), path)));
    // Where the worker keeps its log, which it may.
    let worklog = row.map(|row| row.spec.worklog_path);
    let strays: Vec<String> =
        rest.into_iter().filter(|path| !theirs(path) && worklog.as_deref() != Some(path)).collect();
    if !banned.is_empty() && others.is_empty() {
        return Err(Strayed { how: "changed, and forbidden", paths: banned });
    }
    if strays.is_empty() {
        return Ok(Around::Seen { own, told: None, nothing });
    }
    if others.is_empty() {
        return Err(Strayed { how: "changed outside the scope", paths: strays });
    }
    let who: Vec<&str> = std::iter::once(task).chain(others.iter().map(|it| it.id.as_str())).collect();
    let told = format!("changed outside of every scope, by one of {}: {}", who.join(", "), named(&strays));
    Ok(Around::Seen { own, told: Some(told), nothing })
}

impl Strayed {
    /// In words.
    pub(super) fn told(&self) -> String {
        format!("{}: {}", self.how, named(&self.paths))
    }
}

/// A result that says that all is done.
fn done(result: &str) -> Option<Value> {
    let document = parse(result, Form::of_text(result), SIZE_MAX).map(|document| document.root().to_value());
    document.ok().filter(|result| result["status"] == "done")
}

/// Whether a result says that all is done.
pub(super) fn says_done(result: &str) -> bool {
    done(result).is_some()
}

/// What a result says was changed, if it says that all is done.
fn listed(result: &str) -> Vec<String> {
    let Some(result) = done(result) else { return Vec::new() };
    let lists = ["changes", "files_touched"].iter().filter_map(|name| result[*name].as_array()).flatten();
    lists.filter_map(|it| it["resource"].as_str().or(it.as_str())).map(str::to_owned).collect()
}

impl Around {
    /// Refuses a result that lists changes where nothing at all was changed.
    pub(super) fn must_fit(&self, run: &Run<'_>, attempt: &Attempt<'_>, result: &str) -> Result<(), No> {
        let Self::Seen { nothing: true, .. } = self else { return Ok(()) };
        // What an attempt before left in the folder is there already, and may be told of again.
        let row = run.desk.row(attempt.task()).ok().flatten();
        let listed = if row.is_some_and(|row| row.attempt <= 1) { listed(result) } else { Vec::new() };
        if listed.is_empty() {
            return Ok(());
        }
        let (task, listed) = (attempt.task(), named(&listed));
        let reason = format!("the result of {task} lists changes ({listed}), and nothing at all was changed");
        Err(No::filed("INTEGRITY_MISMATCH", reason))
    }

    /// What is to be told of what lies outside of the scope.
    pub(super) fn told(&self) -> Option<String> {
        match self {
            Self::Unseen(why) => Some(format!("what was changed outside the scope was not seen: {why}")),
            Self::Seen { told, .. } => told.clone(),
        }
    }

    /// What really differs of what was claimed, and what is to be told of what lies in the scope.
    pub(super) fn claimed(self, declared: &[String]) -> (Vec<String>, Option<String>) {
        match self {
            Self::Unseen(_) => (declared.to_vec(), None),
            Self::Seen { own, .. } => {
                let is_told = |path: &&String| declared.iter().any(|place| contains(place, path));
                let untold: Vec<String> = own.iter().filter(|path| !is_told(path)).cloned().collect();
                let untold = (!untold.is_empty()).then(|| format!("changed, and not declared: {}", named(&untold)));
                (own, untold)
            }
        }
    }
}

/// The tasks that can have changed something at the same time: those that were attempted, and those that peers work on.
pub(super) fn others<'r>(
    run: &'r Run<'_>,
    own: usize,
    met: impl Fn(usize, &PlannedTask) -> bool,
) -> Vec<&'r PlannedTask> {
    let is_peers = |task: &PlannedTask| {
        let peer = run.setup.plan.agents.iter().any(|(name, it)| name == task.agent.as_str() && it.peer == Some(true));
        peer && run.desk.row(task.id.as_str()).ok().flatten().is_none_or(|row| row.attempt > 0)
    };
    let tasks = run.setup.plan.tasks.iter().enumerate();
    tasks
        .filter(|(number, task)| *number != own && (met(*number, task) || is_peers(task)))
        .map(|(_, task)| task)
        .collect()
}

fn places<'p>(paths: impl Iterator<Item = &'p (impl Placed + 'p)>) -> Vec<String> {
    paths.map(|path| path.place().to_owned()).collect()
}

fn named(paths: &[String]) -> String {
    let named: Vec<String> = paths.iter().take(NAMED_MAX).map(|path| show(path)).collect();
    match paths.len().saturating_sub(NAMED_MAX) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
