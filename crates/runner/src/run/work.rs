//! The work itself: an agent is given its assignment, and what it left becomes a claim.

use super::agent_at_work::run_agent;
use super::answering::written;
use super::attempt::Attempt;
use super::effect::usage_of;
use super::no::{No, Work};
use super::{Note, Run, around, flags, kept, settings};
use crate::agent::{self, How};
use crate::worktree::{After, Trees, Worktree};
use countersign_contract::{front_matter, show};
use countersign_domain::deciding::Tree;
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;
use serde_json::{Value, json};
use std::path::PathBuf;

/// How much of what is no result is told.
const BEGINS_MAX: usize = 60;

/// What was claimed, for others to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claimed {
    /// What it is known by: a commit, or the hash of contents.
    pub(super) bound: String,
    /// The commit that it was made on top of; none where there is no repository.
    pub(super) base: Option<String>,
    /// What really differs.
    pub(super) changed: Vec<String>,
    /// What the worker said that it changed.
    pub(super) declared: Vec<String>,
    /// The result as the worker wrote it.
    pub(super) result: String,
    /// What does not fit together in it.
    pub(super) flags: Vec<String>,
    /// Whether it was made in this attempt, so that nobody can have landed it yet.
    pub(super) is_new: bool,
}

/// Has an agent do a task. None, if it said itself that it could not.
pub(super) fn work(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value) -> Result<Option<Claimed>, No> {
    let task = attempt.task();
    let number = run.board().works(attempt.number) + 1;
    run.note(&Note::Begun { task, agent: attempt.worker(), attempt: number, lease: attempt.lease });
    let (Some(stock), Some(base)) = (run.ground.stock(), &attempt.base) else {
        return in_tree(run, attempt, gate, None, &mut After::Unknown);
    };
    let lent = stock.for_work(&run.ground.name(task, &attempt.lease.to_string()), base).map_err(No::from)?;
    for text in &lent.tree.unfilled {
        run.note(&Note::Flag { task, text });
    }
    let mut after = After::Unknown;
    let done = in_tree(run, attempt, gate, Some(&lent.tree), &mut after);
    run.ground.back(lent, after);
    done
}

/// Says also what became of the tree: whether all that the agent started has ended.
fn in_tree(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    gate: &Value,
    tree: Option<&Worktree>,
    after: &mut After,
) -> Result<Option<Claimed>, No> {
    let task = attempt.task();
    let folder = tree.map_or(run.ground.root(), |tree| tree.folder.as_path());
    let before = if tree.is_none() { Some(kept::begin(run, attempt)?) } else { None };
    let ended = run_agent(run, attempt, gate, folder);
    // However it ended: what it changed is there, and the next attempt would find it as if it had always been.
    let look = |before| kept::compared(run, task, around::look(run, attempt, before));
    let around = before.map(look).transpose()?;
    let ended = ended?;
    if ended.left == 0 {
        *after = After::AllEnded;
    }
    let answer = agent::answer_of(attempt.agent, &ended);
    let code = match ended.how {
        How::TimedOut | How::Stopped => "TASK_TIMEOUT",
        _ => "DEPENDENCY_NOT_MET",
    };
    let result = answer.map_err(|reason| No::filed(code, reason))?;
    let (bound, changed, world) = match tree {
        Some(tree) => {
            let claimed = claim(run, attempt, tree)?;
            must_be_whole(attempt, &claimed, &result)?;
            let all = claimed.changed.iter().chain(&claimed.left_out);
            let changed = all.map(|path| (path.clone(), Some(claimed.commit.clone()))).collect();
            let seen = Tree { commit: Some(claimed.commit.clone()), changed };
            (claimed.commit, claimed.changed, Some(seen))
        }
        None => (run.ground.content(&scope(attempt)).map_err(No::from)?, Vec::new(), None),
    };
    if let Some((around, _)) = &around {
        around.must_fit(run, attempt, &result)?;
    }
    let mut request = run.desk.of_task(task);
    request["lease"] = json!(attempt.lease);
    request["result"] = json!(result);
    let answer = run.desk.ask_as(attempt.worker(), world, "task.submit", &request);
    let answer = answer.map_err(|no| if is_a_result(&result) { no } else { unread(attempt, &result, no) })?;
    // Only a claim that all is done goes on to the gates.
    if answer["status"].is_string() {
        let reason = answer["reason"].as_str().unwrap_or_default().to_owned();
        match answer["status"].as_str() {
            Some("todo") => run.note(&Note::Again { task, reason: &reason }),
            _ => super::attempt::stopped(run, task, &reason),
        }
        return Ok(None);
    }
    let declared = declared(run, answer["result"].as_u64());
    let (changed, strays) = match around {
        None => (changed, Vec::new()),
        Some((around, mut told)) => {
            let (changed, untold) = around.claimed(&declared);
            told.extend(untold);
            (changed, told)
        }
    };
    run.note(&Note::Claimed { task, changes: changed.len() });
    let usage = ended.usage.as_ref().map_or(Value::Null, usage_of);
    let mut flags = flags::flags(attempt, &usage, (&changed, &declared), &result);
    flags.extend(strays);
    for flag in &flags {
        run.note(&Note::Flag { task, text: flag });
    }
    let base = tree.map(|tree| tree.base.clone());
    Ok(Some(Claimed { bound, base, changed, declared, result, flags, is_new: true }))
}

/// Whether what an agent wrote can be read as a result at all, right or wrong.
fn is_a_result(text: &str) -> bool {
    let said = written(text);
    front_matter(text).is_some() || ["run_id", "task_id", "status"].iter().any(|name| !said[name].is_null())
}

/// Why what an agent wrote is no result. What is wrong with it as a document says little to who wrote something else.
fn unread(attempt: &Attempt<'_>, text: &str, no: No) -> No {
    let begins: String = text.trim_start().lines().next().unwrap_or_default().chars().take(BEGINS_MAX).collect();
    let reason = format!(
        "what {} wrote to standard output is no result, and begins with `{}`; it is one document and nothing else, JSON or \
         Markdown with front matter (`countersign schema subagent_result`): {}",
        attempt.worker(),
        show(&begins),
        no.reason
    );
    No { reason, ..no }
}

/// Refuses a result that says that all is done where something in its scope is no part of the commit: what lies in a repository
/// inside of this one would be claimed, validated and not there.
fn must_be_whole(attempt: &Attempt<'_>, claimed: &crate::worktree::Claimed, result: &str) -> Result<(), No> {
    let scope = scope(attempt);
    let within = |path: &&String| scope.iter().any(|place| contains(place, path));
    let left_out = claimed.left_out.iter().find(within);
    let Some(path) = left_out.filter(|_| around::says_done(result)) else { return Ok(()) };
    let cure = match claimed.modules.contains(path) {
        true => format!("put the files of that submodule back: the work of {} cannot land in there", attempt.task()),
        false => format!("the work of {} is taken without a `.git` there", attempt.task()),
    };
    let reason = format!(
        "{path} is a git repository of its own, and what is in it cannot be part of a commit of this one; {cure}"
    );
    Err(No::filed("INTEGRITY_MISMATCH", reason))
}

/// What the agent left, as a commit that stays.
fn claim(run: &Run<'_>, attempt: &Attempt<'_>, tree: &Worktree) -> Result<crate::worktree::Claimed, No> {
    let Some(trees) = run.ground.trees() else { return Err(No::from("there is no repository".to_owned())) };
    let trailers = super::landing::trailers(run, attempt);
    let claimed = trees.commit_all(tree, &super::landing::message(attempt), &trailers).map_err(No::from)?;
    run.ground.keep(attempt.task(), &claimed.commit).map_err(No::from)?;
    Ok(claimed)
}

/// A claim that was made before: people were asked about it, or the runner was gone.
pub(super) fn again(run: &Run<'_>, attempt: &Attempt<'_>, gate: &Value) -> Result<Claimed, String> {
    let claim = gate["claim"].as_u64();
    let (result, declared) = (run.desk.text(claim.unwrap_or(0))?, declared(run, claim));
    // Whoever looks now is told what the first ones were.
    let lease = claim.and_then(|seq| run.desk.facts(seq)?["lease"].as_u64());
    let usage = lease.map_or(Value::Null, |lease| flags::usage_under(run, attempt.task(), lease));
    let bound = gate["bound"].as_str().map(str::to_owned);
    if run.ground.trees().is_none() {
        let found = run.ground.content(&scope(attempt))?;
        let bound = bound.unwrap_or(found);
        let changed = declared.clone();
        let flags = flags::flags(attempt, &usage, (&changed, &declared), &result);
        return Ok(Claimed { bound, base: None, changed, declared, result, flags, is_new: false });
    }
    let Some(commit) = bound.or_else(|| gate["commit"].as_str().map(str::to_owned)) else {
        return Err("the commit that was claimed is gone; the work must be done again".to_owned());
    };
    let (base, changed) = run.ground.change(&commit, attempt.task())?;
    let flags = flags::flags(attempt, &usage, (&changed, &declared), &result);
    Ok(Claimed { bound: commit, base: Some(base), changed, declared, result, flags, is_new: false })
}

/// What a peer claims that works in the project's folder: what lies in its scope there, on top of the commit from which it
/// began, and nothing else that is there. Where there is no repository, it is known by its contents alone.
pub(super) fn in_place(run: &Run<'_>, attempt: &Attempt<'_>) -> Result<Claimed, No> {
    let task = attempt.task();
    let row = run.desk.row(task)?;
    let claim = row.as_ref().and_then(|row| row.result);
    let (result, declared) = (run.desk.text(claim.unwrap_or(0))?, declared(run, claim));
    let Some(trees) = run.ground.trees() else {
        let bound = run.ground.content(&scope(attempt))?;
        let changed = declared.clone();
        return Ok(Claimed { bound, base: None, changed, declared, result, flags: Vec::new(), is_new: false });
    };
    settings::must_be(run, task, Work::Lost)?;
    let begun = row.and_then(|row| row.base);
    let base = match &begun {
        Some(begun) => begun.commit.clone(),
        None => run.ground.head()?.unwrap_or_default(),
    };
    let found = committed(run, attempt, trees, &base, claim)?;
    run.ground.keep(task, &found.commit)?;
    let mut flags = flags::flags(attempt, &Value::Null, (&found.changed, &declared), &result);
    let is_claimed = |path: &&String| found.changed.contains(path);
    let before: Vec<&str> =
        begun.iter().flat_map(|it| it.dirty.keys()).filter(is_claimed).map(String::as_str).collect();
    if !before.is_empty() {
        flags.push(format!(
            "was not committed when the work was begun, and counts as part of it: {}",
            before.join(", ")
        ));
    }
    Ok(Claimed {
        bound: found.commit,
        base: Some(base),
        changed: found.changed,
        declared,
        result,
        flags,
        is_new: false,
    })
}

/// The commit that what lies in the scope of a peer comes to by now, on top of the one on which its claim was made.
pub(super) fn lies_there(run: &Run<'_>, attempt: &Attempt<'_>, base: &str) -> Result<String, No> {
    let Some(trees) = run.ground.trees() else { return Err(No::from("there is no repository".to_owned())) };
    settings::must_be(run, attempt.task(), Work::Lost)?;
    let claim = run.desk.claim(attempt.task())?;
    Ok(committed(run, attempt, trees, base, claim)?.commit)
}

/// What lies in the scope of a peer as a commit, which is the same one as long as the same lies there.
fn committed(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    trees: &Trees,
    base: &str,
    claim: Option<u64>,
) -> Result<crate::worktree::Claimed, No> {
    let (message, trailers) = (super::landing::message(attempt), super::landing::trailers(run, attempt));
    let at = run.desk.second_of(claim.unwrap_or(0))?;
    Ok(trees.commit_places(base, &scope(attempt), &message, &trailers, at)?)
}

fn declared(run: &Run<'_>, result: Option<u64>) -> Vec<String> {
    let facts = result.and_then(|seq| run.desk.facts(seq));
    let changes = facts.iter().flat_map(|facts| facts["changes"].as_array().into_iter().flatten());
    changes.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a task may change.
pub(super) fn scope(attempt: &Attempt<'_>) -> Vec<String> {
    attempt.planned.lock_scope.iter().map(|path| path.place().to_owned()).collect()
}

/// Where the files of an attempt are.
pub(super) fn spool(run: &Run<'_>, attempt: &Attempt<'_>) -> PathBuf {
    run.setup.spool.join(format!("{}.{}", attempt.task(), attempt.lease))
}
