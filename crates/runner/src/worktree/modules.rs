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
use crate::{names, program};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many are looked into.
pub(crate) const MODULES_MAX: usize = 256;
/// What git keeps about those of a working tree: stands beside its index.
const OWN: &str = "countersign-modules";
/// The names of those that were filled, in there.
const FILLED: &str = "filled";

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
            let at = found.len();
            found.push(Module { name: name.clone(), commit: commit.clone(), objects: objects.clone() });
            let Some(objects) = objects else { continue };
            let git = Git { beside: Some(&objects), ..*git };
            let above = [&name, b"/".as_slice()].concat();
            // Of a clone that has only a part, not all that the commit needs is here.
            if self.add_modules(&git, &commit, (&folder, &kept, &above), found).is_err() {
                found.truncate(at + 1);
                found[at].objects = None;
            }
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
    /// Fills the folders of submodules, as far as what belongs there is here and can be written. The others stay empty. Gives
    /// why some could not be filled.
    pub(super) fn fill_modules(&self, tree: &Worktree) -> Result<Vec<String>, String> {
        if tree.top.join(".gitmodules").symlink_metadata().is_err() {
            return Ok(Vec::new());
        }
        let own = tree.git_dir.join(OWN);
        remove_all(&own)?;
        let (mut filled, mut empty, mut said) = (Vec::new(), Vec::new(), Vec::new());
        for (n, module) in self.layout.modules(&tree.base)?.iter().enumerate() {
            let (folder, git_dir) = (tree.top.join(names::path(&module.name)), own.join(n.to_string()));
            let is_nowhere = empty.iter().any(|above: &PathBuf| folder.starts_with(above));
            let Some(objects) = module.objects.as_ref().filter(|_| !is_nowhere) else { continue };
            let Err(why) = self.fill(&folder, &git_dir, objects, &module.commit) else {
                filled.extend([&module.name, b"\0".as_slice()].concat());
                continue;
            };
            remove_all(&git_dir)?;
            remove_all(&folder)?;
            // Without a folder git would take it for removed.
            std::fs::create_dir_all(&folder)
                .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
            empty.push(folder);
            let name = called(&module.name, self.layout.prefix.as_bytes());
            said.push(format!("submodule {name} cannot be filled, and stays empty: {why}"));
        }
        if own.is_dir() {
            let kept = std::fs::write(own.join(FILLED), filled);
            kept.map_err(|error| format!("which submodules are filled cannot be noted: {error}"))?;
        }
        Ok(said)
    }

    fn fill(&self, folder: &Path, git_dir: &Path, objects: &Path, commit: &str) -> Result<(), String> {
        make_known(folder, git_dir, objects, commit).map_err(|error| error.to_string())?;
        let index = git_dir.join("index");
        let git = self.of_module(folder, &index, objects);
        git.run(&["read-tree", "--reset", "-u", "--no-sparse-checkout", commit], &[])?;
        Ok(())
    }

    /// The submodules in which somebody has changed files, as resources of the project.
    pub(super) fn changed_modules(&self, tree: &Worktree) -> Result<Vec<String>, String> {
        let mut changed = Vec::new();
        if !tree.has_modules() {
            return Ok(changed);
        }
        let filled = std::fs::read(tree.git_dir.join(OWN).join(FILLED)).unwrap_or_default();
        for module in self.layout.modules(&tree.base)? {
            let is_filled = pieces(&filled).any(|name| name == module.name);
            let Some(objects) = module.objects.as_ref().filter(|_| is_filled) else { continue };
            let (folder, index) = (tree.top.join(names::path(&module.name)), tree.git_dir.join("countersign-module"));
            let git = self.of_module(&folder, &index, objects);
            remove_all(&index)?;
            // A lock is of a call that was ended.
            remove_all(&tree.git_dir.join("countersign-module.lock"))?;
            // Its own index is anybody's who works there.
            let is_same = folder.is_dir() && {
                git.run(&["read-tree", &module.commit], &[])?;
                is_as_filled(&git, &tree.git_dir.join("countersign-filled"))?
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

/// Whether every file of an index lies there as git writes it. Through filters that is not always what git would read from it
/// again, so what it takes for changed is written once more, aside, and compared.
fn is_as_filled(git: &Git, aside: &Path) -> Result<bool, String> {
    let listed = git.run(&["ls-files", "-m", "-d", "-z"], &[])?;
    let listed: BTreeSet<&[u8]> = pieces(&listed).collect();
    if listed.iter().any(|name| git.folder.join(names::path(name)).symlink_metadata().is_err()) {
        return Ok(false);
    }
    if listed.is_empty() {
        return Ok(true);
    }
    remove_all(aside)?;
    let mut prefix = OsString::from("--prefix=");
    prefix.push(aside.join(""));
    let input: Vec<u8> = listed.iter().flat_map(|name| [*name, b"\0".as_slice()].concat()).collect();
    git.run(&["checkout-index".as_ref(), "-z".as_ref(), "--stdin".as_ref(), prefix.as_os_str()], &input)?;
    let is_same = |name: &&[u8]| is_equal(&git.folder.join(names::path(name)), &aside.join(names::path(name)));
    let are_same = listed.iter().all(is_same);
    remove_all(aside)?;
    Ok(are_same)
}

/// Whether two files are the same, or two links. Folders are not compared.
fn is_equal(one: &Path, other: &Path) -> bool {
    let (Ok(first), Ok(second)) = (one.symlink_metadata(), other.symlink_metadata()) else { return false };
    if first.is_symlink() || second.is_symlink() {
        return matches!((one.read_link(), other.read_link()), (Ok(one), Ok(other)) if one == other);
    }
    first.is_file()
        && second.is_file()
        && program::is_program(one) == program::is_program(other)
        && matches!((std::fs::read(one), std::fs::read(other)), (Ok(one), Ok(other)) if one == other)
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
