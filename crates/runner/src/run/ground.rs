//! Where the work is done: in working trees of a git repository, or, where there is none, in the project's folder itself.

use super::contents;
use crate::git;
use crate::worktree::call::{Git, lines};
use crate::worktree::change::{between, called};
use crate::worktree::{After, Layout, Lent, Stock, Trees};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the work is done.
pub(super) struct Ground {
    root: PathBuf,
    run: String,
    /// The working trees. None where there is no repository.
    stock: Option<Stock>,
}

impl Ground {
    /// The ground of a project.
    pub(super) fn of(root: &Path, run: &str) -> Result<Self, String> {
        let inside = git::ask_one(root, &["rev-parse", "--is-inside-work-tree"]).as_deref() == Some("true");
        let stock = if inside { Some(Stock::new(Trees::new(root, None, None)?)) } else { None };
        let ground = Self { root: root.to_owned(), run: run.to_owned(), stock };
        ground.head()?;
        Ok(ground)
    }

    /// The working trees, if there is a repository.
    pub(super) fn stock(&self) -> Option<&Stock> {
        self.stock.as_ref()
    }

    /// How working trees are made, if there is a repository.
    pub(super) fn trees(&self) -> Option<&Trees> {
        self.stock().map(Stock::trees)
    }

    /// The working tree that people use, if there is a repository.
    pub(super) fn layout(&self) -> Option<&Layout> {
        self.trees().map(Trees::layout)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The commit that is checked out where people work. None where there is no repository.
    pub(super) fn head(&self) -> Result<Option<String>, String> {
        let Some(layout) = self.layout() else { return Ok(None) };
        layout.head().map(Some).ok_or_else(|| {
            "the repository has no commit yet, and agents work on commits; make the first one with `git commit`"
                .to_owned()
        })
    }

    /// The name of a working tree: a run, a task, and which attempt or what for.
    pub(super) fn name(&self, task: &str, which: &str) -> String {
        format!("{}/{task}.{which}", self.short())
    }

    /// What the run is called where names are short: how it begins and ends, because ids that people choose differ there.
    fn short(&self) -> String {
        match (self.run.get(..8), self.run.get(32..)) {
            (Some(first), Some(last)) => format!("{first}{last}"),
            _ => "run".to_owned(),
        }
    }

    /// The name of a working tree that nobody else has had: those before it may not be gone yet.
    pub(super) fn name_of_its_own(&self, task: &str, lease: u64) -> String {
        static MADE: AtomicU64 = AtomicU64::new(0);
        self.name(task, &format!("{lease}-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)))
    }

    /// Gives a working tree back.
    pub(super) fn back(&self, lent: Lent, after: After) {
        if let Some(stock) = &self.stock {
            stock.back(lent, after);
        }
    }

    /// Removes every working tree of this run.
    pub(super) fn sweep(&self) {
        if let Some(stock) = &self.stock {
            stock.clear();
            let _ = stock.trees().sweep_of(&self.short());
        }
    }

    /// Where the commits that this run keeps are named.
    fn references(&self) -> String {
        format!("refs/countersign/{}", self.run)
    }

    /// Lets go of what an earlier runner of this run held when it was killed. There is no other one now.
    pub(super) fn unlock(&self) {
        if let Some(layout) = self.layout() {
            layout.unlock_refs(&self.references());
        }
    }

    /// Keeps a claimed commit, so that it is there after a crash and while people think about it.
    pub(super) fn keep(&self, task: &str, commit: &str) -> Result<(), String> {
        self.layout().map_or(Ok(()), |layout| layout.set_ref(&format!("{}/{task}", self.references()), commit))
    }

    /// Lets go of every commit that was kept for this run.
    pub(super) fn forget(&self) {
        if self.stock.is_none() {
            return;
        }
        let prefix = format!("{}/", self.references());
        let Ok(out) = Git::at(&self.root).run(&["for-each-ref", "--format=delete %(refname)", &prefix], &[]) else {
            return;
        };
        if !out.is_empty() {
            let _ = Git::at(&self.root).run(&["update-ref", "--stdin"], &out);
        }
    }

    /// The commit that a claimed one was made on top of, and what it changes. Where nothing was changed, it is the base itself,
    /// and is not the task's own.
    pub(super) fn change(&self, commit: &str, task: &str) -> Result<(String, Vec<String>), String> {
        let mine = "--format=%(trailers:key=Countersign-Run,valueonly)%(trailers:key=Countersign-Task,valueonly)";
        let git = Git::at(&self.root);
        let said = git.run(&["log", "--max-count=1", mine, commit], &[])?;
        if String::from_utf8_lossy(&said).split_whitespace().ne([self.run.as_str(), task]) {
            return Ok((commit.to_owned(), Vec::new()));
        }
        let parent = format!("{commit}^{{commit}}~1");
        let out = git.run(&["rev-parse", "--show-prefix", &parent], &[])?;
        let [prefix, base] = lines(&out).ok_or("git answered in an unknown form")?;
        let changes = between(&git, &base, commit)?;
        Ok((base, changes.iter().map(|change| called(&change.name, prefix.as_bytes())).collect()))
    }

    /// The hash of everything inside a scope, where there is no git to name it.
    pub(super) fn content(&self, scope: &[String]) -> Result<String, String> {
        contents::hash(&self.root, scope)
    }
}
