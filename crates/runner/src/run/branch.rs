//! Work lands on the branch that was checked out when the run was begun or gone on with.
//!
//! Which commit is checked out does not tell: another branch can stand at the same one. Whoever checks one out in the middle of a
//! run may not mean that work lands there, and is asked once for each task.

use super::Run;
use super::attempt::Attempt;
use crate::worktree::Layout;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The branch that work lands on.
pub(super) struct Branch {
    began: Option<String>,
    /// Of which tasks and branches a person was asked: a task that comes back after that was let go on.
    asked: Mutex<BTreeSet<(String, Option<String>)>>,
}

impl Branch {
    /// The one that is checked out now.
    pub(super) fn of(layout: Option<&Layout>) -> Self {
        Self { began: layout.and_then(Layout::branch), asked: Mutex::default() }
    }
}

/// What a person is told where another branch is checked out by now. None, if it is the same, or they were told before.
pub(super) fn is_other(run: &Run<'_>, attempt: &Attempt<'_>, place: &Layout) -> Option<String> {
    let (began, now) = (&run.branch.began, place.branch());
    let mut asked = run.branch.asked.lock().unwrap_or_else(PoisonError::into_inner);
    if now == *began || !asked.insert((attempt.task().to_owned(), now.clone())) {
        return None;
    }
    let (began, now) = (called(began.as_deref()), called(now.as_deref()));
    Some(format!(
        "{now} is checked out, and the run began on {began}; check that out again, or have it land where you are"
    ))
}

fn called(branch: Option<&str>) -> String {
    let short =
        |name: &str| format!("`{}`", countersign_contract::show(name.strip_prefix("refs/heads/").unwrap_or(name)));
    branch.map_or_else(|| "no branch".to_owned(), short)
}
