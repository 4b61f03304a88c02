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
mod claiming;
mod hearing;
#[cfg(unix)]
mod holders;
pub(crate) mod index;
mod known;
mod layout;
#[cfg(unix)]
mod likeness;
pub(crate) mod lock;
pub(crate) mod message;
pub(crate) mod modules;
pub(crate) mod objects;
mod removing;
#[cfg(unix)]
mod stock;

pub use call::Identity;
pub use claiming::Claimed;
pub use layout::Layout;
#[cfg(unix)]
pub use stock::{After, Lent, Stock};

use crate::content;
use call::{Git, is_commit};
use index::Index;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The working trees that belong to a repository.
#[derive(Clone, Debug)]
pub struct Trees {
    /// The working tree that people use.
    layout: Layout,
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
    /// Why submodules stay empty in it that are here.
    pub unfilled: Vec<String>,
    /// What git keeps about it.
    git_dir: PathBuf,
    /// What was checked out, by size and time, so that later only what differs must be read. It is kept here and in no file:
    /// whoever works in the tree could write to that, and have git find there what it never put into it.
    index: Arc<Index>,
}

impl Trees {
    /// For the project at `root`. They are made below `place`, or where users' programs keep their state.
    pub fn new(root: &Path, place: Option<&Path>, identity: Option<Identity>) -> Result<Self, String> {
        let layout = Layout::of(root).map_err(|fault| {
            format!(
                "{} is not in a working tree of git: {fault}; agents work on commits, so make one with `git init`",
                root.display()
            )
        })?;
        let place = match place {
            Some(place) => std::path::absolute(place).map_err(|error| format!("{}: {error}", place.display()))?,
            None => usual_place(&layout.common)?,
        };
        let place = real(&place);
        if place.starts_with(&layout.top) {
            return Err(format!("working trees cannot be made in {}, which is inside the project", place.display()));
        }
        Ok(Self { layout, place, identity: identity.unwrap_or_default() })
    }

    /// The working tree that people use.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Makes a working tree of a commit, on no branch. A name is like `1a2b3c4d/T-1.2`: a run, a task, an attempt.
    pub fn make(&self, name: &str, commit: &str) -> Result<Worktree, String> {
        let top = self.room_for(name, commit)?;
        let made = self.introduce(name, &top, commit).and_then(|git_dir| {
            Git::at(&top).run(&["read-tree", "--reset", "-u", &format!("{commit}^{{commit}}")], &[])?;
            let index = checked_out(&git_dir)?;
            self.made(name, commit, &top, git_dir, index)
        });
        made.inspect_err(|_| {
            // Half a working tree is none.
            let _ = self.remove_at(&top);
        })
    }

    /// The place for a working tree, which is empty, with the folders above it.
    fn room_for(&self, name: &str, commit: &str) -> Result<PathBuf, String> {
        let top = self.path(name)?;
        if !is_commit(commit) {
            return Err(format!("`{}` is no full name of a commit", commit.escape_debug()));
        }
        if top.symlink_metadata().is_ok() {
            return Err(format!("{} is already there; remove it, or sweep what an earlier runner left", top.display()));
        }
        let above = top.parent().unwrap_or(&self.place);
        // Another run that ends just now removes folders that it finds empty.
        let made = private_folder(above).or_else(|_| private_folder(above)).or_else(|_| private_folder(above));
        made.map_err(|error| format!("the place for working trees {} cannot be made: {error}", above.display()))?;
        Ok(top)
    }

    fn made(&self, name: &str, commit: &str, top: &Path, git_dir: PathBuf, index: Index) -> Result<Worktree, String> {
        let folder = top.join(&self.layout.prefix);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
        let (name, top, base) = (name.to_owned(), top.to_owned(), commit.to_owned());
        let mut tree = Worktree { name, folder, top, base, unfilled: Vec::new(), git_dir, index: Arc::new(index) };
        tree.unfilled = self.fill_modules(&tree)?;
        Ok(tree)
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

/// The index of what git has just checked out.
fn checked_out(git_dir: &Path) -> Result<Index, String> {
    let index = git_dir.join("index");
    Index::read(&index).map_err(|error| format!("{} cannot be read: {error}", index.display()))
}

/// A number that nobody else in this process has had.
fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// Where users' programs keep what they may lose without harm, by repository.
fn usual_place(common: &Path) -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = named("XDG_STATE_HOME").or_else(|| Some(named("HOME")?.join(".local").join("state")));
    let state = state.ok_or("there is no place for working trees: neither HOME nor XDG_STATE_HOME is set")?;
    let hash: String = content::hash(&[common.as_os_str().as_encoded_bytes()]).chars().take(16).collect();
    Ok(state.join("countersign").join("trees").join(hash))
}

/// The real name of a path, by which git will know it, whether it is there or not.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let rest = found.as_ref().and_then(|(above, _)| path.strip_prefix(above).ok());
    match (&found, rest) {
        (Some((_, real)), Some(rest)) if !rest.as_os_str().is_empty() => real.join(rest),
        (Some((_, real)), _) => real.clone(),
        (None, _) => path.to_owned(),
    }
}

/// Makes a folder that nobody else can look into.
fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
