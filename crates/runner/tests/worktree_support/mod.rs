//! What the tests of working trees share.

#![allow(clippy::unwrap_used, dead_code, reason = "tests")]

use countersign_runner::landing::{Claim, Landing, Step, land_by_steps};
use countersign_runner::worktree::{Claimed, Identity, Trees, Worktree};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

pub fn try_git(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command.args(settings).args(arguments).current_dir(folder).output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if output.status.success() { Ok(out) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

pub fn git(folder: &Path, arguments: &[&str]) -> String {
    try_git(folder, arguments).unwrap_or_else(|said| panic!("{arguments:?}: {said}"))
}

pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub fn read(folder: &Path, name: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(name)).ok()
}

/// A repository with some files in one commit, and a place for working trees beside it.
pub struct Repository {
    folder: tempfile::TempDir,
    /// Where the project is below the top.
    prefix: &'static str,
}

pub const FILES: &[(&str, &str)] = &[
    ("src/a.rs", "a1\na2\na3\na4\na5\n"),
    ("src/b.rs", "b\n"),
    ("docs/c.md", "c\n"),
    ("docs/deep/d.md", "d\n"),
    (".gitignore", "target/\n*.log\n"),
];

impl Repository {
    pub fn new() -> Self {
        Self::with_prefix("")
    }

    pub fn with_prefix(prefix: &'static str) -> Self {
        let it = Self::empty(prefix);
        for (name, text) in FILES {
            write(&it.root(), name, text);
        }
        it.commit("first");
        it
    }

    pub fn empty(prefix: &'static str) -> Self {
        let it = Self { folder: tempfile::tempdir().unwrap(), prefix };
        std::fs::create_dir_all(it.root_unresolved()).unwrap();
        git(&it.folder.path().join("main"), &["init", "--quiet", "--initial-branch=main"]);
        it
    }

    fn root_unresolved(&self) -> PathBuf {
        self.folder.path().join("main").join(self.prefix)
    }

    pub fn top(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("main")
    }

    pub fn root(&self) -> PathBuf {
        self.top().join(self.prefix)
    }

    pub fn place(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("trees")
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn trees(&self) -> Trees {
        Trees::new(&self.root(), Some(&self.place()), None).unwrap()
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.top(), arguments)
    }

    pub fn write(&self, name: &str, text: &str) {
        write(&self.root(), name, text);
    }

    pub fn read(&self, name: &str) -> Option<String> {
        read(&self.root(), name)
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    pub fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.head()
    }

    /// What git says of the working tree that people use.
    pub fn status(&self) -> String {
        self.git(&["status", "--porcelain", "--untracked-files=all"])
    }

    /// What an agent claims that does some work on top of HEAD, and the base.
    pub fn claim(&self, task: &str, work: impl FnOnce(&Worktree)) -> (Claimed, String) {
        let (trees, base) = (self.trees(), self.head());
        let tree = trees.make(&format!("run1/{task}.1"), &base).unwrap();
        work(&tree);
        let claimed = trees.commit_all(&tree, "Work", &trailers(task)).unwrap();
        trees.remove(&tree).unwrap();
        (claimed, base)
    }

    pub fn land(&self, task: &str, claimed: &(Claimed, String)) -> Landing {
        self.land_until(task, claimed, None)
    }

    /// Lands, or is cut short before a step.
    pub fn land_until(&self, task: &str, (claimed, base): &(Claimed, String), before: Option<Step>) -> Landing {
        land_at(&self.root(), task, &claimed.commit, base, before)
    }
}

pub fn land_at(root: &Path, task: &str, commit: &str, base: &str, before: Option<Step>) -> Landing {
    let (trailers, identity) = (trailers(task), Identity::default());
    let message = "Round half to even";
    let claim = Claim { root, commit, base, message, trailers: &trailers, identity: &identity };
    land_by_steps(&claim, &mut |step| {
        if Some(step) == before { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

pub fn trailers(task: &str) -> Vec<(String, String)> {
    let pairs = [("Countersign-Run", "run1"), ("Countersign-Task", task), ("Countersign-Lease", "7")];
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}
