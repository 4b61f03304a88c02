//! Taking working trees away, also those that nobody remembers.

use super::{Trees, Worktree};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

impl Trees {
    /// Takes a working tree away, and what git keeps about it. One that is not there is already away.
    pub fn remove(&self, tree: &Worktree) -> Result<(), String> {
        self.remove_at(&tree.top)
    }

    /// Takes away every working tree but those named: what a runner left that is no more. Gives the names of what was
    /// taken away. Git's own `worktree prune` is not asked: it would also forget working trees of the user whose disk
    /// is not mounted just now.
    pub fn sweep(&self, keep: &[&str]) -> Result<Vec<String>, String> {
        let keep: BTreeSet<PathBuf> = keep.iter().map(|name| self.place.join(name)).collect();
        let mut gone = Vec::new();
        for run in children(&self.place)? {
            for top in children(&run)?.into_iter().filter(|top| !keep.contains(top)) {
                self.remove_at(&top)?;
                let name = top.strip_prefix(&self.place).unwrap_or(&top);
                gone.push(name.to_string_lossy().into_owned());
            }
            // Only if it is empty.
            let _ = std::fs::remove_dir(&run);
        }
        self.forget_lost(&self.place)?;
        let _ = std::fs::remove_dir(&self.place);
        gone.sort();
        Ok(gone)
    }

    /// Takes away every working tree of one run.
    pub fn sweep_of(&self, run: &str) -> Result<(), String> {
        let folder = self.place.join(run);
        if run.is_empty() || run.contains('/') || run.starts_with('.') {
            return Err(format!("`{}` is no name of a run", run.escape_debug()));
        }
        for top in children(&folder)? {
            self.remove_at(&top)?;
        }
        self.forget_lost(&folder)?;
        self.clear_beside(run);
        // Each only if it is empty.
        let _ = std::fs::remove_dir(&folder);
        let _ = std::fs::remove_dir(&self.place);
        Ok(())
    }

    /// Takes away what git keeps about working trees below a folder of ours that are not there.
    fn forget_lost(&self, folder: &Path) -> Result<(), String> {
        for git_dir in children(&self.layout.common.join("worktrees"))? {
            let top = top_of(&git_dir).filter(|top| top.starts_with(folder) && top.symlink_metadata().is_err());
            if top.is_some() {
                self.forget(&git_dir)?;
            }
        }
        Ok(())
    }

    pub(super) fn remove_at(&self, top: &Path) -> Result<(), String> {
        if !top.starts_with(&self.place) || top == self.place {
            return Err(format!("{} is not one of our working trees", top.display()));
        }
        // First what git keeps, while the tree still says where that is; a tree without it is found by the sweep.
        if let Some(git_dir) = self.git_dir_of(top) {
            self.forget(&git_dir)?;
        }
        remove_all(top)
    }

    /// What git keeps about a working tree: what the tree says, if it is true, or else what is found to point to it.
    pub(super) fn git_dir_of(&self, top: &Path) -> Option<PathBuf> {
        let all = self.layout.common.join("worktrees");
        let said = std::fs::read_to_string(top.join(".git")).ok();
        let said = said.and_then(|text| Some(PathBuf::from(text.strip_prefix("gitdir: ")?.trim_end())));
        let is_its_own = |dir: &PathBuf| dir.parent() == Some(&all) && top_of(dir).as_deref() == Some(top);
        said.filter(is_its_own).or_else(|| children(&all).ok()?.into_iter().find(is_its_own))
    }
}

/// The working tree that git keeps something about.
fn top_of(git_dir: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(git_dir.join("gitdir")).ok()?;
    Path::new(text.trim_end_matches('\n')).parent().map(Path::to_path_buf)
}

/// What stands in a folder. Nothing, if there is none.
fn children(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Vec::new()),
        Err(error) => return Err(format!("{} cannot be read: {error}", folder.display())),
    };
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// Removes a folder and what is in it, also where somebody has taken the right away. Links are not followed.
pub(super) fn remove_all(path: &Path) -> Result<(), String> {
    let remove = || match path.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    let result = match remove() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            allow(path);
            remove()
        }
        // Something that was ended just now may have written a last file.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => remove(),
        result => result,
    };
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}; remove it by hand", path.display()))
        }
        _ => Ok(()),
    }
}

/// Gives us the right to change a folder and all folders below.
#[cfg(unix)]
fn allow(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let Ok(found) = folder.symlink_metadata() else { continue };
        if found.is_dir() {
            let _ = std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700));
            folders.extend(children(&folder).unwrap_or_default());
        }
    }
}

#[cfg(not(unix))]
fn allow(_: &Path) {}
