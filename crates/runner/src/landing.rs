//! Landing: bringing a claimed commit into the branch that is checked out in the working tree that people use.
//!
//! ```text
//! look ─▶ merge (in git's store) ─▶ commit (in git's store) ─▶ update files and index ─▶ move HEAD
//! ```
//!
//! Only the last two steps touch what people see, and each can be the last before a crash. Landing keeps no notes about
//! how far it came: it is begun again from what is there. A file that already is what the landing brings is not in its
//! way, and neither is one that is still what HEAD says; so a landing that was cut short is completed, and one that was
//! completed is known by the trailers of its commit.
//!
//! **Invariant:** what is in a file and not in git is never overwritten. If it is in the way, nothing is changed.
//! **Invariant:** HEAD moves from the commit that was looked at or not at all.
//! **Absent:** a file that git had written half when the machine stopped looks like a user's change, and is reported as
//! one.

mod history;
mod obstacles;
mod updating;

use crate::worktree::call::{Git, is_commit};
use crate::worktree::change::{Change, called};
use crate::worktree::lock::lock;
use crate::worktree::message;
use crate::worktree::{Identity, Layout};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often is begun again when HEAD was moved by somebody else in the meantime.
const TRIES: usize = 3;
/// Files by which git knows that it is in the middle of something, and how that is called.
const UNDER_WAY: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("BISECT_LOG", "bisect"),
];

/// A claimed commit, and where it is to land.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The working tree that people use.
    pub place: &'a Layout,
    /// The commit.
    pub commit: &'a str,
    /// The commit that it was made on top of.
    pub base: &'a str,
    /// What the landed commit says.
    pub message: &'a str,
    /// What it is known by: a commit since the base that has all of them is this landing. There must be one.
    pub trailers: &'a [(String, String)],
    /// In whose name it lands.
    pub identity: &'a Identity,
    /// Whether the commit says all of that already. It is then landed as it is where HEAD is still its base.
    pub is_whole: bool,
    /// Whether somebody may have landed it before. The commits since its base are looked through then.
    pub was_tried: bool,
    /// How long is waited for another git that is at work there.
    pub patience: Duration,
}

/// What came of a landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landing {
    /// It landed as this commit, on top of the one that was HEAD.
    Landed {
        /// The new HEAD.
        commit: String,
        /// The old one.
        was: String,
    },
    /// There was nothing to do: this commit has landed it before, or HEAD has the same content already.
    Already {
        /// The commit that has it.
        commit: String,
    },
    /// Others have changed the same places. Nothing was changed.
    Conflict {
        /// The files, as resources of the project.
        paths: Vec<String>,
        /// The commits since the base that touched them, the youngest first.
        ours: Vec<Touch>,
        /// The commit that could not land.
        theirs: String,
    },
    /// Files that it would change have changes that are not committed. Nothing was changed.
    Dirty {
        /// The files, as resources of the project.
        paths: Vec<String>,
    },
    /// HEAD is not where it was when the landing was prepared. Nothing was changed.
    Moved,
    /// It could not be done, and why, and what to do.
    Failed(String),
}

/// A commit that is ready to land: the claim on top of what HEAD was. It is in git's store, and nowhere else yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The commit.
    pub commit: String,
    /// What HEAD was.
    pub head: String,
    /// What it changes there. None, if that was not looked at.
    changes: Option<Vec<Change>>,
}

/// A commit that touched files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Its name.
    pub commit: String,
    /// Who wrote it.
    pub author: String,
    /// Its first line.
    pub subject: String,
    /// The task that it landed, if it did.
    pub task: Option<String>,
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The merge is computed.
    Merge,
    /// The commit is written.
    Commit,
    /// Files and index are updated.
    Update,
    /// HEAD is moved.
    Move,
    /// It is over.
    Done,
}

/// Lands a claimed commit.
pub fn land(claim: &Claim) -> Landing {
    land_by_steps(claim, &mut |_| ControlFlow::Continue(()))
}

/// The commit that would land now: the claimed one where HEAD is still its base, otherwise the two merged. Nothing that people
/// see is changed.
///
/// # Errors
/// Nothing would land, and that is what a landing would come to.
pub fn prepare(claim: &Claim) -> Result<Prepared, Landing> {
    prepared(claim).unwrap_or_else(|why| Err(Landing::Failed(why)))
}

fn prepared(claim: &Claim) -> Result<Result<Prepared, Landing>, String> {
    let stand = stand(claim)?;
    let git = Git::at(&stand.place.top);
    if stand.head == claim.base && claim.is_whole {
        return Ok(Ok(Prepared { commit: claim.commit.to_owned(), head: stand.head, changes: None }));
    }
    if claim.was_tried
        && stand.head != claim.base
        && let Some(commit) = history::landed_before(&git, claim)?
    {
        return Ok(Err(Landing::Already { commit }));
    }
    let tree = match history::merge(&git, claim, &stand)? {
        Ok(tree) => tree,
        Err(names) => return history::conflict(&git, claim, &stand, &names).map(Err),
    };
    let changes = claim.place.between(&stand.head, &tree)?;
    if changes.is_empty() {
        return Ok(Err(Landing::Already { commit: stand.head }));
    }
    let commit = write(claim, &stand.head, &tree)?;
    Ok(Ok(Prepared { commit, head: stand.head, changes: Some(changes) }))
}

/// Lands what was prepared, as that commit and no other.
pub fn land_prepared(claim: &Claim, prepared: &Prepared) -> Landing {
    by_steps(claim, Some(prepared), &mut |_| ControlFlow::Continue(()))
}

/// Lands a claimed commit, and asks before each step whether to go on. Who says no leaves things as a crash there
/// would.
pub fn land_by_steps(claim: &Claim, steps: &mut dyn FnMut(Step) -> ControlFlow<()>) -> Landing {
    by_steps(claim, None, steps)
}

fn by_steps(claim: &Claim, prepared: Option<&Prepared>, steps: &mut dyn FnMut(Step) -> ControlFlow<()>) -> Landing {
    let mut landed = || {
        let _alone = lock(&claim.place.git_dir.join("countersign-landing.lock"))?;
        let mut claim = *claim;
        let until = Instant::now() + claim.patience;
        for _ in 0..TRIES {
            updating::wait_for_others(claim.place, until);
            if let Some(landing) = attempt(&claim, prepared, until, steps)? {
                return Ok(landing);
            }
            // Whoever moved HEAD may have done so with what was in the files by then.
            claim.was_tried = true;
        }
        Err(format!("HEAD was moved by somebody else {TRIES} times while `{}` landed; try again", claim.commit))
    };
    landed().unwrap_or_else(Landing::Failed)
}

/// How the working tree stands.
pub(crate) struct Stand<'a> {
    pub(crate) place: &'a Layout,
    pub(crate) head: String,
}

/// One landing from a look to HEAD. None, if HEAD was moved by somebody else in the meantime.
fn attempt(
    claim: &Claim,
    prepared: Option<&Prepared>,
    until: Instant,
    steps: &mut dyn FnMut(Step) -> ControlFlow<()>,
) -> Result<Option<Landing>, String> {
    let mut go = |step: Step| match steps(step) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => {
            Err(format!("landing was stopped before the step {step:?}; land again to complete it"))
        }
    };
    let stand = stand(claim)?;
    let git = Git::at(&stand.place.top);
    if claim.was_tried
        && stand.head != claim.base
        && let Some(commit) = history::landed_before(&git, claim)?
    {
        return Ok(Some(Landing::Already { commit }));
    }
    if prepared.is_some_and(|prepared| prepared.head != stand.head) {
        return Ok(Some(Landing::Moved));
    }
    go(Step::Merge)?;
    // What was prepared on top of the same HEAD is merged already.
    let merged = match prepared {
        Some(prepared) => Ok(prepared.commit.clone()),
        None => history::merge(&git, claim, &stand)?,
    };
    let tree = match merged {
        Ok(tree) => tree,
        Err(names) => return history::conflict(&git, claim, &stand, &names).map(Some),
    };
    let changes = match prepared.and_then(|prepared| prepared.changes.clone()) {
        Some(changes) => changes,
        None => claim.place.between(&stand.head, &tree)?,
    };
    if changes.is_empty() {
        return Ok(Some(Landing::Already { commit: stand.head }));
    }
    if let Some(what) = under_way(stand.place) {
        let top = stand.place.top.display();
        return Err(format!("a {what} is under way in {top}; complete or abort it, then land again"));
    }
    let dirty = |names: &[Vec<u8>]| Landing::Dirty {
        paths: names.iter().map(|name| called(name, stand.place.prefix.as_bytes())).collect(),
    };
    let is_free = obstacles::is_free(&stand, &changes);
    let way = if is_free { obstacles::Way::Free } else { obstacles::look(&git, &stand, &changes)? };
    if let obstacles::Way::Blocked(names) = way {
        return Ok(Some(dirty(&names)));
    }
    go(Step::Commit)?;
    let commit = match prepared {
        Some(prepared) => prepared.commit.clone(),
        None if claim.is_whole && stand.head == claim.base => claim.commit.to_owned(),
        None => write(claim, &stand.head, &tree)?,
    };
    go(Step::Update)?;
    if let Err(said) = updating::update(&git, &stand, &way, (&changes, &commit), until) {
        // Somebody may have begun to work on the same files since they were looked at.
        return match obstacles::look(&git, &stand, &changes)? {
            obstacles::Way::Blocked(names) => Ok(Some(dirty(&names))),
            _ => Err(said),
        };
    }
    go(Step::Move)?;
    let moved = git.run_as(
        &["update-ref", "-m", &format!("countersign: land {}", claim.commit), "HEAD", &commit, &stand.head],
        &[],
        Some(claim.identity),
    );
    if let Err(fault) = moved {
        return if stand.place.head() == Some(stand.head) { Err(fault.text) } else { Ok(None) };
    }
    go(Step::Done)?;
    Ok(Some(Landing::Landed { commit, was: stand.head }))
}

/// Writes the commit that lands.
fn write(claim: &Claim, head: &str, tree: &str) -> Result<String, String> {
    let message = message::with_trailers(claim.message, claim.trailers)?;
    claim.place.write_commit(tree, head, &message, claim.identity)
}

fn stand<'a>(claim: &Claim<'a>) -> Result<Stand<'a>, String> {
    for name in [claim.commit, claim.base] {
        if !is_commit(name) {
            return Err(format!("`{}` is no full name of a commit", name.escape_debug()));
        }
    }
    if claim.trailers.is_empty() {
        return Err("a landing without trailers could not be known again".into());
    }
    let head = claim.place.head().ok_or_else(|| {
        format!("there is no commit yet in {} to land on; make a first one", claim.place.top.display())
    })?;
    Ok(Stand { place: claim.place, head })
}

/// What git is in the middle of.
fn under_way(place: &Layout) -> Option<&'static str> {
    let is_there = |file: &str| place.git_dir.join(file).symlink_metadata().is_ok();
    UNDER_WAY.iter().find(|(file, _)| is_there(file)).map(|(_, what)| *what)
}
