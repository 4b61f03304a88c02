//! Work lands on the branch that was checked out when the run was begun.
//!
//! Which commit is checked out does not tell: another branch can stand at the same one. Whoever checks one out in the middle of a
//! run, or before it goes on, may not mean that work lands there, and is asked once for each task. Both the branch and the
//! question stand in the ledger, so that whoever goes on asks as the first one would, and not again what was answered.

use super::Run;
use super::attempt::Attempt;
use crate::worktree::Layout;
use countersign_domain::work::event::TASK_BLOCKED;

/// What is noted where no branch is checked out.
const NONE: &str = "HEAD";

/// The branch that is checked out, as it is noted. None, if there is no repository.
pub(super) fn now(layout: Option<&Layout>) -> Option<String> {
    layout.map(|layout| layout.branch().unwrap_or_else(|| NONE.to_owned()))
}

/// What a person is told where another branch is checked out by now. None, if it is the same, or they were told before: a task
/// that comes back after that was let go on.
pub(super) fn is_other(run: &Run<'_>, attempt: &Attempt<'_>, place: &Layout) -> Result<Option<String>, String> {
    let (Some(began), Some(now)) = (&run.branch, now(Some(place))) else { return Ok(None) };
    if now == *began {
        return Ok(None);
    }
    let why = format!(
        "{} is checked out, and the run began on {}; check that out again, or have it land where you are",
        called(&now),
        called(began)
    );
    // Whoever works on a task can block it with the same words, but only who leads the run says that it asks about a landing.
    let is_it = |facts: &serde_json::Value| {
        let says_so = || facts["reason"].as_str().is_some_and(|reason| reason.starts_with(&why));
        facts["task"] == attempt.task() && facts["asks"] == "landing" && says_so()
    };
    let was_asked = run.desk.any_since(run.desk.opened()?, TASK_BLOCKED, is_it)?;
    Ok(Some(why).filter(|_| !was_asked))
}

fn called(branch: &str) -> String {
    if branch == NONE {
        return "no branch".to_owned();
    }
    format!("`{}`", countersign_contract::show(branch.strip_prefix("refs/heads/").unwrap_or(branch)))
}
