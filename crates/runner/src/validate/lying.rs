//! A folder that is looked at as it lies, and whether a check has changed what was there.
//!
//! Nobody has a checkout of their own there: what one check writes, every later one would take for the work. What a program
//! leaves beside it (caches, reports, what it builds) is no work, and does not count: work is what git keeps, what is claimed,
//! and what checks name.

use super::Job;
use super::facts::files_claimed;
use crate::content::{self, Content};
use crate::worktree::call::Git;
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long all of it is read at most. It is none of the time that checks have: one that passed in time has passed.
const READING_MAX: Duration = Duration::from_secs(60);

/// What lay in a folder.
pub(super) struct Lying {
    folder: PathBuf,
    before: Vec<(String, Option<Content>)>,
}

impl Lying {
    pub(super) fn of(job: &Job<'_>, folder: &Path) -> Self {
        let until = Instant::now() + READING_MAX;
        let mut names: Vec<String> = known_to_git(folder).into_iter().chain(named(job)).collect();
        names.sort();
        names.dedup();
        let is_work = |name: &String| !contains(".countersign", name);
        let with = |name: String| {
            let content = content::of(&folder.join(&name), until);
            (name, content)
        };
        Self { folder: folder.to_owned(), before: names.into_iter().filter(is_work).map(with).collect() }
    }

    /// The first file that is not what it was.
    pub(super) fn changed(&self) -> Option<&str> {
        let until = Instant::now() + READING_MAX;
        let is_other = |(name, was): &&(String, Option<Content>)| content::of(&self.folder.join(name), until) != *was;
        self.before.iter().find(is_other).map(|(name, _)| name.as_str())
    }
}

/// The files that git keeps; none where there is no repository.
fn known_to_git(folder: &Path) -> Vec<String> {
    let out = Git::at(folder).run(&["ls-files", "-z", "--cached"], &[]).unwrap_or_default();
    String::from_utf8_lossy(&out).split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The files that the request claims, and those that checks look at.
fn named(job: &Job<'_>) -> Vec<String> {
    let criteria = job.request.acceptance_criteria.iter();
    let checks = criteria.flat_map(|criterion| job.checks.of(criterion.id.as_str()));
    let files = checks.filter_map(|check| Some(check.file.as_ref()?.path.place().to_owned()));
    files_claimed(job.request).into_iter().chain(files).collect()
}
