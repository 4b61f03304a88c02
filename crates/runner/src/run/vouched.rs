//! Work begins at, and lands on, commits that somebody answers for: the one that was checked out when the run began, what the run
//! itself has landed on top of that, and what a person has accepted by its name.
//!
//! HEAD is anybody's to move, also an agent's whose work is tested with files of it: what it commits to the branch in one attempt
//! would be "as before the work" in the next one. Which of the files decide about the work nobody can tell: a test reads
//! others, and so does the command of a validator. So every commit counts, whatever is in it, and nothing that the repository
//! says about it: trailers and parents are written by whoever makes it. What lands is in the ledger before it is on the branch.
//!
//! What another run has landed counts if a person began that run. An agent can begin one as well, with gates of its own.
//!
//! **Invariant:** where HEAD is moved by landings alone, git is not asked, and each event is read once.

use super::Run;
use super::no::{No, Work};
use crate::worktree::call::{Git, pieces};
use crate::worktree::change::{between, called};
use countersign_contract::show;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// How many events before the beginning of a run are looked at.
const BEFORE: u64 = 1000;
/// How many commits are named at a time, and how many files of each.
const COMMITS_MAX: usize = 5;
const FILES_MAX: usize = 10;
/// How long what is said of commits may become: what is to be done about them must fit in as well.
const SAID_MAX: usize = 1200;

/// The commits that somebody answers for.
pub(super) struct Vouched {
    /// The one that was checked out when the run began. None where there is no repository.
    began: Option<String>,
    known: Mutex<Known>,
}

/// What is known by now.
#[derive(Default)]
struct Known {
    commits: BTreeSet<String>,
    /// The last event that was read for it.
    seen: Option<u64>,
}

impl Vouched {
    /// For a run that began at a commit, today or some time ago.
    pub(super) fn since(began: Option<String>) -> Self {
        let commits = began.iter().cloned().collect();
        Self { began, known: Mutex::new(Known { commits, seen: None }) }
    }
}

/// Refuses to go on at a commit that nobody answers for, until a person does. `work` is what becomes of the attempt meanwhile.
///
/// # Errors
/// Nobody answers for it, or that cannot be told.
pub(super) fn must_be(run: &Run<'_>, task: &str, commit: &str, work: Work) -> Result<(), No> {
    if is_known(run, commit).map_err(No::from)? {
        return Ok(());
    }
    let (unblock, id) = (format!("`countersign task unblock {task} --reason TEXT`"), run.setup.run);
    let reason = format!(
        "{}; accept the branch as it is there with `countersign run accept {commit} --reason TEXT --run {id}`, or take that back \
         and have it looked at again with {unblock}, as `countersign inbox` has them",
        told(run, commit)
    );
    Err(No::held(commit.to_owned(), work, reason))
}

/// Whether somebody answers for a commit. What has landed is in the ledger before HEAD is moved, so what is not found there by
/// now did not come from there.
fn is_known(run: &Run<'_>, commit: &str) -> Result<bool, String> {
    if run.vouched.began.is_none() {
        return Ok(true);
    }
    // Nobody leaves it half changed.
    let mut known = run.vouched.known.lock().unwrap_or_else(PoisonError::into_inner);
    if known.commits.contains(commit) {
        return Ok(true);
    }
    let head = run.desk.head()?;
    known.commits.extend(run.desk.own_row()?.accepted);
    // What others were about to land when the run began was recorded a little before that.
    let began = || run.desk.opened().map(|opened| opened.saturating_sub(BEFORE).max(1));
    let first = known.seen.map_or_else(began, |seen| Ok(seen + 1))?;
    for [by, landed, was] in run.desk.landings(first, head)? {
        if known.commits.contains(&was) && counts(run, &by)? {
            known.commits.insert(landed);
        }
    }
    known.seen = Some(head);
    Ok(known.commits.contains(commit))
}

/// Whether what a run lands counts as vouched for.
fn counts(run: &Run<'_>, by: &str) -> Result<bool, String> {
    Ok(by == run.setup.run || run.desk.run_row(by)?.is_some_and(|row| row.is_gated() && row.person))
}

/// What is on a branch that nobody answers for: each commit, by whom, and its files.
fn told(run: &Run<'_>, commit: &str) -> String {
    let short = |commit: &str| commit.get(..10).unwrap_or(commit).to_owned();
    let since = short(run.vouched.began.as_deref().unwrap_or_default());
    let nobody = "no task of the run has landed that";
    let Ok((mut commits, mut more)) = strange(run, commit) else {
        return format!("the branch is at {}, and {nobody}; what there is in it cannot be told", short(commit));
    };
    if commits.is_empty() {
        return format!("the branch was set back to {}, from before {since} where the run began", short(commit));
    }
    let all = |commits: &[String]| commits.join("; ");
    while commits.len() > 1 && all(&commits).len() > SAID_MAX {
        commits.pop();
        more = true;
    }
    let said: String = all(&commits).chars().take(SAID_MAX).collect();
    let more = if more { "; and others" } else { "" };
    format!(
        "the branch was changed since {since}, and {nobody}: {said}{more} (`git log {since}..{}` shows it)",
        short(commit)
    )
}

/// The commits that lead to one and to none that is known, the youngest first, each in words; and whether there are more.
fn strange(run: &Run<'_>, commit: &str) -> Result<(Vec<String>, bool), String> {
    let layout = run.ground.layout().ok_or("there is no repository")?;
    let git = Git::at(&layout.top);
    let known = run.vouched.known.lock().unwrap_or_else(PoisonError::into_inner).commits.clone();
    let asked: String = known.iter().map(|known| format!("^{known}\n")).chain([format!("{commit}\n")]).collect();
    let most = format!("--max-count={}", COMMITS_MAX + 1);
    let format = "--format=tformat:%H%x1f%an <%ae>%x1f%s";
    // What was about to land and did not may be gone.
    let out = git.run(&["log", "-z", "--ignore-missing", &most, format, "--stdin"], asked.as_bytes())?;
    let said = |line: &[u8]| {
        let line = String::from_utf8_lossy(line).into_owned();
        let mut fields = line.split('\x1f').map(str::trim);
        let (commit, author, subject) = (fields.next()?, fields.next()?, fields.next()?);
        let changes = between(&git, &format!("{commit}^1"), commit).unwrap_or_default();
        let mut files: Vec<String> =
            changes.iter().take(FILES_MAX).map(|it| show(&called(&it.name, layout.prefix.as_bytes()))).collect();
        if changes.len() > FILES_MAX {
            files.push(format!("{} more", changes.len() - FILES_MAX));
        }
        let files = if files.is_empty() { "no files".to_owned() } else { files.join(", ") };
        Some(format!("{} by {} `{}` ({files})", commit.get(..10)?, show(author), show(subject)))
    };
    let mut commits: Vec<String> = pieces(&out).filter_map(said).collect();
    let more = commits.len() > COMMITS_MAX;
    commits.truncate(COMMITS_MAX);
    Ok((commits, more))
}
