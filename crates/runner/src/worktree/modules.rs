//! Submodules in working trees: git leaves their folders empty, and whatever needs them fails there for no visible reason.
//!
//! They are filled from what the working tree that people use has of them, and nothing is fetched. A file is written as the
//! settings of the repository itself say: those of a submodule are not among what a run keeps an eye on. The folder becomes a
//! repository of its own, so that `git submodule update` finds nothing to do, and it only borrows objects: nobody who works there
//! can harm the one that people use.
//!
//! **Absent on purpose:** claims. What is changed in a submodule is no part of a commit.

use super::call::{Git, pieces};
use super::change::{GITLINK, called};
use super::removing::remove_all;
use super::{Layout, Trees, Worktree};
use crate::names;
use std::path::{Path, PathBuf};

/// How many are looked into.
const MODULES_MAX: usize = 256;
/// What git keeps about those of a working tree: stands beside its index.
const OWN: &str = "countersign-modules";

/// A submodule.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    /// Where it is, from the top.
    pub(crate) name: Vec<u8>,
    /// The commit that is asked for.
    pub(crate) commit: String,
    /// Where the objects of that commit are. None, if they are not here.
    objects: Option<PathBuf>,
}

impl Module {
    pub(crate) fn is_here(&self) -> bool {
        self.objects.is_some()
    }
}

impl Layout {
    /// The submodules of a commit, with those in them.
    pub(crate) fn modules(&self, commit: &str) -> Result<Vec<Module>, String> {
        let mut found = Vec::new();
        let git = Git { repository: Some(&self.common), ..Git::at(&self.top) };
        if git.run(&["cat-file", "-e", &format!("{commit}:.gitmodules")], &[]).is_ok() {
            self.add_modules(&git, commit, (&self.top, &self.common, &[]), &mut found)?;
        }
        Ok(found)
    }

    /// Adds those of a commit of a repository, whose working tree, folder and name from the top are given.
    fn add_modules(
        &self,
        git: &Git,
        commit: &str,
        (folder, kept, above): (&Path, &Path, &[u8]),
        found: &mut Vec<Module>,
    ) -> Result<(), String> {
        let out = git.run(&["ls-tree", "-r", "-z", "--full-tree", commit], &[])?;
        let start = format!("{GITLINK} commit ");
        for line in pieces(&out).filter_map(|line| line.strip_prefix(start.as_bytes())) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
            let (commit, inner) = (String::from_utf8_lossy(&line[..tab]).into_owned(), names::path(&line[tab + 1..]));
            let (folder, kept) = (folder.join(&inner), kept.join("modules").join(&inner));
            let name = [above, &line[tab + 1..]].concat();
            if found.len() >= MODULES_MAX {
                break;
            }
            let objects = stores(&folder, &kept).into_iter().find(|objects| self.has(objects, &commit));
            found.push(Module { name: name.clone(), commit: commit.clone(), objects: objects.clone() });
            let Some(objects) = objects else { continue };
            let git = Git { beside: Some(&objects), ..*git };
            self.add_modules(&git, &commit, (&folder, &kept, &[&name, b"/".as_slice()].concat()), found)?;
        }
        Ok(())
    }

    fn has(&self, objects: &Path, commit: &str) -> bool {
        let git = Git { repository: Some(&self.common), beside: Some(objects), ..Git::at(&self.top) };
        git.run(&["cat-file", "-e", &format!("{commit}^{{tree}}")], &[]).is_ok()
    }
}

/// Where the objects of a submodule may be: in the repository that is checked out in its folder, and where git keeps those that
/// are not checked out.
fn stores(folder: &Path, kept: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if folder.join(".git").symlink_metadata().is_ok()
        && let Ok(out) = Git::at(folder).run(&["rev-parse", "--path-format=absolute", "--git-path", "objects"], &[])
    {
        all.push(names::path(out.strip_suffix(b"\n").unwrap_or(&out)));
    }
    all.push(kept.join("objects"));
    all.into_iter().filter(|path| path.is_dir()).collect()
}

impl Worktree {
    /// Whether submodules were filled in it.
    pub(super) fn has_modules(&self) -> bool {
        self.git_dir.join(OWN).is_dir()
    }
}

impl Trees {
    /// Fills the folders of submodules, as far as what belongs there is here. The others stay empty.
    pub(super) fn fill_modules(&self, tree: &Worktree) -> Result<(), String> {
        if tree.top.join(".gitmodules").symlink_metadata().is_err() {
            return Ok(());
        }
        let own = tree.git_dir.join(OWN);
        remove_all(&own)?;
        for (n, module) in self.layout.modules(&tree.base)?.iter().enumerate() {
            let Some(objects) = &module.objects else { continue };
            let (folder, git_dir) = (tree.top.join(names::path(&module.name)), own.join(n.to_string()));
            let said = |error: std::io::Error| format!("submodule {} cannot be filled: {error}", folder.display());
            make_known(&folder, &git_dir, objects, &module.commit).map_err(said)?;
            let index = git_dir.join("index");
            let git = self.of_module(&folder, &index, objects);
            let filled = git.run(&["read-tree", "--reset", "-u", "--no-sparse-checkout", &module.commit], &[]);
            filled.map_err(|fault| {
                let name = called(&module.name, b"");
                format!("submodule {name} cannot be filled: {}; run `git submodule update --init --force`", fault.text)
            })?;
        }
        Ok(())
    }

    /// The submodules in which somebody has changed files, as resources of the project.
    pub(super) fn changed_modules(&self, tree: &Worktree) -> Result<Vec<String>, String> {
        let mut changed = Vec::new();
        if !tree.has_modules() {
            return Ok(changed);
        }
        for module in self.layout.modules(&tree.base)? {
            let Some(objects) = &module.objects else { continue };
            let (folder, index) = (tree.top.join(names::path(&module.name)), tree.git_dir.join("countersign-module"));
            let git = self.of_module(&folder, &index, objects);
            remove_all(&index)?;
            // Its own index is anybody's who works there.
            let is_same = folder.is_dir() && {
                git.run(&["read-tree", &module.commit], &[])?;
                git.run(&["ls-files", "-m", "-d", "-z"], &[])?.is_empty()
            };
            if !is_same {
                changed.push(called(&module.name, self.layout.prefix.as_bytes()));
            }
            remove_all(&index)?;
        }
        Ok(changed)
    }

    fn of_module<'a>(&'a self, folder: &'a Path, index: &'a Path, objects: &'a Path) -> Git<'a> {
        Git { index: Some(index), repository: Some(&self.layout.common), beside: Some(objects), ..Git::at(folder) }
    }
}

/// Makes a folder a repository that borrows its objects.
fn make_known(folder: &Path, git_dir: &Path, objects: &Path, commit: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::create_dir_all(git_dir.join("refs/heads"))?;
    std::fs::create_dir_all(git_dir.join("objects/info"))?;
    let line = |path: &Path| [path.as_os_str().as_encoded_bytes(), b"\n"].concat();
    std::fs::write(git_dir.join("objects/info/alternates"), line(objects))?;
    std::fs::write(git_dir.join("HEAD"), format!("{commit}\n"))?;
    let form = if commit.len() == 64 { "1\n[extensions]\n\tobjectformat = sha256" } else { "0" };
    std::fs::write(git_dir.join("config"), format!("[core]\n\tbare = false\n\trepositoryformatversion = {form}\n"))?;
    std::fs::write(folder.join(".git"), [b"gitdir: ".as_slice(), &line(git_dir)].concat())
}
