//! Working trees for agents and for checks, beside the one that people use.
//!
//! They stand outside of the project and of its `.git`. Inside the project they would be seen by whatever walks the
//! project, and what runs in them would find the project's own configuration above (workspaces, `node_modules`). Inside
//! `.git` it is the same, and agents refuse to write below a folder of that name. So they stand where users' programs
//! keep their state, in a folder for each repository.
//!
//! **Invariant:** what an agent did is the content of its working tree when it ended. What it did to git (commits, its
//! index, a merge that it began, its HEAD) plays no part.
//! **Invariant:** nothing outside of our own place is removed.

pub(crate) mod call;
pub(crate) mod change;
pub(crate) mod lock;
pub(crate) mod message;
mod removing;

pub use call::Identity;

use crate::content;
use call::{Git, is_commit, lines, object, pieces};
use change::{between, called, inside, is_there};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What an agent's tree was when it was made: stands beside git's own index of that tree.
const INDEX: &str = "countersign-index";
/// The index that a claim is made with.
const CLAIM: &str = "countersign-claim";
/// Our own folder in a project. What agents do there is not their work.
const OWN: &[u8] = b".countersign/";

/// The working trees that belong to a repository.
#[derive(Clone, Debug)]
pub struct Trees {
    /// The top of the working tree that people use.
    top: PathBuf,
    /// Where the project is below it: empty, or with `/` at its end.
    prefix: String,
    /// What all working trees of the repository share.
    common: PathBuf,
    place: PathBuf,
    identity: Identity,
}

/// A working tree that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its name.
    pub name: String,
    /// Its top.
    pub top: PathBuf,
    /// The project's folder in it, which is its top if the project is the whole repository.
    pub folder: PathBuf,
    /// The commit that it was made from.
    pub base: String,
    /// What git keeps about it.
    git_dir: PathBuf,
}

/// What an agent left, as one commit on top of the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The commit; the base itself, if nothing changed.
    pub commit: String,
    /// Its tree.
    pub tree_hash: String,
    /// The files that it changes, as resources of the project.
    pub changed: Vec<String>,
    /// What was changed and is not part of it: files outside of the project's folder, named from the top, repositories
    /// inside of the tree, and submodules.
    pub left_out: Vec<String>,
}

impl Trees {
    /// For the project at `root`. They are made below `place`, or where users' programs keep their state.
    pub fn new(root: &Path, place: Option<&Path>, identity: Option<Identity>) -> Result<Self, String> {
        let ask = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix"];
        let out = Git::at(root).run(&ask, &[]).map_err(|fault| {
            format!(
                "{} is not in a working tree of git: {}; agents work on commits, so make one with `git init`",
                root.display(),
                fault.text
            )
        })?;
        let [top, common, prefix] =
            lines(&out).ok_or_else(|| format!("a folder above {} has a name that cannot be used", root.display()))?;
        let (top, common) = (PathBuf::from(top), PathBuf::from(common));
        let place = match place {
            Some(place) => std::path::absolute(place).map_err(|error| format!("{}: {error}", place.display()))?,
            None => usual_place(&common)?,
        };
        let place = private_folder(&place)?;
        if place.starts_with(&top) {
            return Err(format!("working trees cannot be made in {}, which is inside the project", place.display()));
        }
        Ok(Self { top, prefix, common, place, identity: identity.unwrap_or_default() })
    }

    /// Makes a working tree of a commit, on no branch. A name is like `1a2b3c4d/T-1.2`: a run, a task, an attempt.
    pub fn make(&self, name: &str, commit: &str) -> Result<Worktree, String> {
        let tree = self.clean_checkout(name, commit)?;
        // What is checked out now is known to this index by size and time; later only what differs must be read.
        let (index, kept) = (tree.git_dir.join("index"), tree.git_dir.join(INDEX));
        copy_with_time(&index, &kept).map_err(|error| format!("{} cannot be kept: {error}", index.display()))?;
        Ok(tree)
    }

    /// Makes a working tree of a commit for checks: one that is only looked at.
    pub fn clean_checkout(&self, name: &str, commit: &str) -> Result<Worktree, String> {
        let top = self.path(name)?;
        if !is_commit(commit) {
            return Err(format!("`{}` is no full name of a commit", commit.escape_debug()));
        }
        if top.symlink_metadata().is_ok() {
            return Err(format!("{} is already there; remove it, or sweep what an earlier runner left", top.display()));
        }
        if let Some(above) = top.parent() {
            std::fs::create_dir_all(above).map_err(|error| format!("{} cannot be made: {error}", above.display()))?;
        }
        let path = top.to_str().ok_or_else(|| format!("{} is no text", top.display()))?;
        let made = self.add(path, commit).and_then(|()| self.open(name, commit));
        let made = made.and_then(|tree| {
            Git::at(&tree.top).run(&["read-tree", "--reset", "-u", commit], &[])?;
            let folder = std::fs::create_dir_all(&tree.folder);
            folder.map_err(|error| format!("{} cannot be made: {error}", tree.folder.display()))?;
            Ok(tree)
        });
        made.inspect_err(|_| {
            // Half a working tree is none.
            let _ = self.remove_at(&top);
        })
    }

    /// Makes a working tree known to git, without its files. One at a time, because git reads what it keeps about all
    /// others, and fails on one that is half made. Files take longer, and are written without waiting for each other.
    fn add(&self, path: &str, commit: &str) -> Result<(), String> {
        let _alone = self.alone()?;
        let arguments = ["worktree", "add", "--no-checkout", "--detach", "--quiet", "--", path, commit];
        Git::at(&self.top).run(&arguments, &[]).map(drop).map_err(String::from)
    }

    /// Waits until nobody else changes what git keeps about working trees.
    fn alone(&self) -> Result<File, String> {
        lock::lock(&self.common.join("countersign-trees.lock"))
    }

    /// A working tree that was made earlier, perhaps by a runner that is no more.
    pub fn open(&self, name: &str, base: &str) -> Result<Worktree, String> {
        let top = self.path(name)?;
        if !is_commit(base) {
            return Err(format!("`{}` is no full name of a commit", base.escape_debug()));
        }
        let git_dir = self.git_dir_of(&top).ok_or_else(|| format!("there is no working tree {}", top.display()))?;
        let folder = top.join(&self.prefix);
        Ok(Worktree { name: name.to_owned(), folder, top, base: base.to_owned(), git_dir })
    }

    /// Makes one commit on top of the base of everything that an agent left: staged or not, untracked but not ignored.
    pub fn commit_all(&self, tree: &Worktree, message: &str, trailers: &[(String, String)]) -> Result<Claimed, String> {
        let message = message::with_trailers(message, trailers)?;
        if !tree.top.is_dir() {
            return Err(format!("the working tree {} is gone, and with it what the agent did", tree.top.display()));
        }
        let index = tree.git_dir.join(CLAIM);
        // Neither the tree's own `.git` nor its index: an agent may have done anything to them.
        let git = Git { folder: &tree.top, index: Some(&index), repository: Some(&self.common) };
        clear(&index)?;
        let list = || git.run(&["ls-files", "-o", "-m", "-d", "--exclude-standard", "-z"], &[]);
        let kept = copy_with_time(&tree.git_dir.join(INDEX), &index).is_ok();
        let listed = match kept.then(list) {
            Some(Ok(listed)) => listed,
            // Without the kept index everything must be read again; it takes longer, and comes to the same.
            _ => {
                clear(&index)?;
                git.run(&["read-tree", &tree.base], &[])?;
                list()?
            }
        };
        let (mut taken, mut left_out) = (BTreeSet::new(), BTreeSet::new());
        for name in pieces(&listed) {
            let is_repository = name.ends_with(b"/");
            match inside(name, self.prefix.as_bytes()) {
                _ if name.starts_with(OWN) => {}
                Some(inner) if inner.starts_with(OWN) => {}
                Some(_) if !is_repository => {
                    taken.insert(name);
                }
                _ => {
                    left_out.insert(called(name.strip_suffix(b"/").unwrap_or(name), self.prefix.as_bytes()));
                }
            }
        }
        let (there, gone): (Vec<&[u8]>, Vec<&[u8]>) = taken.into_iter().partition(|name| is_there(&tree.top, name));
        // Those that are gone first, so that a folder or a link can come where they were.
        for (how, names) in [("--force-remove", gone), ("--add", there)] {
            let input: Vec<u8> = names.iter().flat_map(|name| [*name, b"\0".as_slice()].concat()).collect();
            if !input.is_empty() {
                git.run(&["update-index", "-z", "--replace", how, "--stdin"], &input)?;
            }
        }
        let mut tree_hash = object(&git.run(&["write-tree"], &[])?)?;
        let mut changes = between(&git, &tree.base, &tree_hash)?;
        if changes.iter().any(change::Change::is_repository) {
            let restored = restore_repositories(&git, &changes)?;
            left_out.extend(restored.iter().map(|name| called(name, self.prefix.as_bytes())));
            tree_hash = object(&git.run(&["write-tree"], &[])?)?;
            changes = between(&git, &tree.base, &tree_hash)?;
        }
        let changed: Vec<String> = changes.iter().map(|it| called(&it.name, self.prefix.as_bytes())).collect();
        let left_out = left_out.into_iter().collect();
        if changed.is_empty() {
            return Ok(Claimed { commit: tree.base.clone(), tree_hash, changed, left_out });
        }
        let arguments = ["commit-tree", &tree_hash, "-p", &tree.base, "-F", "-"];
        let commit = object(&git.run_as(&arguments, message.as_bytes(), Some(&self.identity))?)?;
        Ok(Claimed { commit, tree_hash, changed, left_out })
    }

    /// Where a name stands.
    fn path(&self, name: &str) -> Result<PathBuf, String> {
        let is_part = |part: &str| {
            let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            part.len() <= 100
                && part.bytes().all(usual)
                && part.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        };
        let parts: Vec<&str> = name.split('/').collect();
        if parts.len() != 2 || !parts.iter().all(|part| is_part(part)) {
            return Err(format!(
                "`{}` is no name for a working tree; it is like `1a2b3c4d/T-1.2`",
                name.escape_debug()
            ));
        }
        Ok(self.place.join(name))
    }
}

/// A copy that is not younger than what it is a copy of. Git reads a file again whose time is not before that of the
/// index; with a younger index it would miss what changed in the same moment.
fn copy_with_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let time = from.metadata()?.modified()?;
    std::fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(time)
}

fn clear(index: &Path) -> Result<(), String> {
    match std::fs::remove_file(index) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", index.display()))
        }
        _ => Ok(()),
    }
}

/// Where users' programs keep what they may lose without harm, by repository.
fn usual_place(common: &Path) -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local").join("state")));
    let state = state.ok_or("there is no place for working trees: neither HOME nor XDG_STATE_HOME is set")?;
    let hash: String = content::hash(&[common.as_os_str().as_encoded_bytes()]).chars().take(16).collect();
    Ok(state.join("countersign").join("trees").join(hash))
}

/// Makes a folder that nobody else can look into, and gives its real name, by which git will know it.
fn private_folder(path: &Path) -> Result<PathBuf, String> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(path).and_then(|()| path.canonicalize());
    made.map_err(|error| format!("the place for working trees {} cannot be made: {error}", path.display()))
}

/// Puts repositories inside of this one back to what they are in the base. Gives their names.
fn restore_repositories(git: &Git, changes: &[change::Change]) -> Result<Vec<Vec<u8>>, String> {
    let (mut input, mut names) = (Vec::new(), Vec::new());
    for change in changes.iter().filter(|change| change.is_repository()) {
        input.extend_from_slice(&change.entry(false));
        names.push(change.name.clone());
    }
    git.run(&["update-index", "-z", "--replace", "--index-info"], &input)?;
    Ok(names)
}
