//! A folder that is looked at as it lies, and whether a check has changed what was there.
//!
//! Nobody has a checkout of their own there: what one check writes, every later one would take for the work. What a program
//! leaves beside it (caches, what it builds) is no work, and does not count: where git knows the folder, what it ignores is
//! left out; elsewhere only what is claimed, and what checks name, is known to be work.

use super::Job;
use super::clock::Clock;
use super::facts::files_claimed;
use crate::content::{self, Content};
use crate::worktree::call::Git;
use countersign_domain::work::places::Placed;
use countersign_domain::work::scope::contains;
use std::path::{Path, PathBuf};

/// What lay in a folder.
pub(super) struct Lying {
    folder: PathBuf,
    before: Vec<(String, Option<Content>)>,
}

impl Lying {
    pub(super) fn of(job: &Job<'_>, folder: &Path, clock: &Clock) -> Self {
        let names = known_to_git(folder).unwrap_or_else(|| named(job));
        let is_work = |name: &String| !contains(".countersign", name);
        let with = |name: String| {
            let content = content::of(&folder.join(&name), clock.until());
            (name, content)
        };
        Self { folder: folder.to_owned(), before: names.into_iter().filter(is_work).map(with).collect() }
    }

    /// The first file that is not what it was.
    pub(super) fn changed(&self, clock: &Clock) -> Option<&str> {
        let is_other =
            |(name, was): &&(String, Option<Content>)| content::of(&self.folder.join(name), clock.until()) != *was;
        self.before.iter().find(is_other).map(|(name, _)| name.as_str())
    }
}

/// The files that git knows or would take up. None where there is no repository.
fn known_to_git(folder: &Path) -> Option<Vec<String>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let out = Git::at(folder).run(&list, &[]).ok()?;
    Some(String::from_utf8_lossy(&out).split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// The files that the request claims, and those that checks look at.
fn named(job: &Job<'_>) -> Vec<String> {
    let criteria = job.request.acceptance_criteria.iter();
    let checks = criteria.flat_map(|criterion| job.checks.of(criterion.id.as_str()));
    let files = checks.filter_map(|check| Some(check.file.as_ref()?.path.place().to_owned()));
    let mut all: Vec<String> = files_claimed(job.request).into_iter().chain(files).collect();
    all.sort();
    all.dedup();
    all
}
