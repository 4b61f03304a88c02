//! What the tests of working trees share.

use countersign_runner::landing::{Claim, Landing, Step, land_by_steps};
use countersign_runner::worktree::{Claimed, Identity, Layout, Trees, Worktree};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

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
    let place = match Layout::of(root) {
        Ok(place) => place,
        Err(said) => return Landing::Failed(said),
    };
    let claim = Claim {
        place: &place,
        commit,
        base,
        message,
        trailers: &trailers,
        identity: &identity,
        is_whole: false,
        was_tried: true,
        patience: Duration::ZERO,
    };
    land_by_steps(&claim, &mut |step| {
        if Some(step) == before { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// Does something with a claim that says all already, in the name of T-1.
pub fn with_whole_claim<T>(
    it: &Repository,
    (claimed, base): &(Claimed, String),
    was_tried: bool,
    work: impl FnOnce(&Claim<'_>) -> T,
) -> T {
    let (trailers, identity, place) = (trailers("T-1"), Identity::default(), Layout::of(&it.root()).unwrap());
    work(&Claim {
        place: &place,
        commit: &claimed.commit,
        base,
        message: "Work",
        trailers: &trailers,
        identity: &identity,
        is_whole: true,
        was_tried,
        patience: Duration::ZERO,
    })
}

pub fn trailers(task: &str) -> Vec<(String, String)> {
    let pairs = [("Countersign-Run", "run1"), ("Countersign-Task", task), ("Countersign-Lease", "7")];
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

pub const STEPS: &[Step] = &[Step::Merge, Step::Commit, Step::Update, Step::Move, Step::Done];

pub fn landed(landing: &Landing) -> &str {
    match landing {
        Landing::Landed { commit, .. } => commit,
        other => panic!("{other:?}"),
    }
}

pub fn failed(landing: &Landing) -> &str {
    match landing {
        Landing::Failed(said) => said,
        other => panic!("{other:?}"),
    }
}

/// How many commits have the trailers of a task.
pub fn times(it: &Repository, task: &str) -> usize {
    let all = it.git(&["log", "--format=%(trailers:key=Countersign-Task,valueonly,separator=%x20)", "HEAD"]);
    all.lines().filter(|line| line.trim() == task).count()
}

/// Everything that a landing may not disturb: HEAD, what is staged, and what git says of every file.
pub fn everything(it: &Repository) -> (String, String, String) {
    let diff = it.git(&["diff", "HEAD", "--binary"]);
    (it.head(), it.git(&["ls-files", "--stage"]), format!("{}{diff}", it.status()))
}

/// Work that changes, adds, removes and renames, and changes what a name stands for.
pub fn much(tree: &Worktree) {
    let at = &tree.folder;
    write(at, "src/a.rs", "a1\na2\na3\na4\nA5\n");
    write(at, "src/new/deep.rs", "new\n");
    std::fs::remove_dir_all(at.join("docs/deep")).unwrap();
    std::fs::rename(at.join("docs/c.md"), at.join("docs/renamed.md")).unwrap();
    std::fs::remove_file(at.join("src/b.rs")).unwrap();
    write(at, "src/b.rs/now a folder", "x");
    symlink("a.rs", at.join("src/link")).unwrap();
    std::fs::write(at.join(std::ffi::OsStr::from_bytes(b"odd \xff\n*")), "odd").unwrap();
    write(at, "run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(at.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the user has in the working tree beside: staged, not staged, untracked, ignored.
pub fn users_work(it: &Repository) {
    it.write("user/staged.txt", "staged\n");
    it.git(&["add", "--all"]);
    it.write("user/staged.txt", "staged, and more\n");
    it.write(".gitignore", "target/\n*.log\n# mine\n");
    it.write("user/untracked.txt", "untracked\n");
    it.write("x.log", "ignored\n");
}

pub const USERS: &str = " M .gitignore\nAM user/staged.txt\n?? user/untracked.txt";

pub fn users_work_untouched(it: &Repository, act: impl FnOnce(&Repository)) {
    let before = everything(it);
    act(it);
    assert_eq!(everything(it), before);
}

pub fn make(it: &Repository) -> (Trees, Worktree) {
    let trees = it.trees();
    let tree = trees.make("run1/T-1.1", &it.head()).unwrap();
    (trees, tree)
}
