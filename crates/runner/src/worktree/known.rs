//! Making a working tree known to git, and unknown again.
//!
//! What git keeps about a working tree is a folder with a few lines in it. Where its form is certain it is written here,
//! beside, and comes to its place whole by one rename; so nobody ever meets one that is half made, and nobody has to wait
//! for anybody else. Elsewhere git does it, one at a time.

pub(super) mod aside;

use super::call::Git;
use super::index::Index;
use super::removing::remove_all;
use super::{Trees, lock};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder beside those of git in which what is not yet, or no longer, in its place stands.
const BESIDE: &str = "countersign-new";
/// What in it is to be removed.
const GONE: &str = "gone";
/// An index that was kept while git did not know of its tree.
pub(super) const BEFORE: &str = "countersign-before";
/// How many names are tried.
const TRIES: usize = 1000;

impl Trees {
    /// Makes a working tree known to git, without its files. Gives what git keeps about it.
    pub(super) fn introduce(&self, name: &str, top: &Path, commit: &str) -> Result<PathBuf, String> {
        if self.layout.is_plain {
            std::fs::create_dir(top).map_err(|error| format!("{} cannot be made: {error}", top.display()))?;
            return self.write_known(name, top, commit, None);
        }
        let path = top.to_str().ok_or_else(|| format!("{} is no text", top.display()))?;
        // Git reads what it keeps about all others, and fails on one that is half made. Files take longer, and are
        // written without waiting for each other.
        let _alone = self.alone()?;
        let arguments = ["worktree", "add", "--no-checkout", "--detach", "--quiet", "--", path, commit];
        Git::at(&self.layout.top).run(&arguments, &[])?;
        self.git_dir_of(top).ok_or_else(|| format!("git does not know the working tree {}", top.display()))
    }

    /// Writes what git keeps about a working tree whose folder is there, and names it in the tree.
    pub(super) fn write_known(
        &self,
        name: &str,
        top: &Path,
        commit: &str,
        spare: Option<(&Index, Option<&Path>)>,
    ) -> Result<PathBuf, String> {
        let written = || {
            let staged = self.beside(name);
            remove_all(&staged).map_err(std::io::Error::other)?;
            let aside = spare.and_then(|(_, aside)| aside);
            if !aside.is_some_and(|aside| aside::take_over(aside, &staged)) {
                aside.map_or(Ok(()), remove_all).map_err(std::io::Error::other)?;
                // Another run that ends just now removes folders that it finds empty.
                std::fs::create_dir_all(&staged).or_else(|_| std::fs::create_dir_all(&staged))?;
            }
            aside::write(&staged.join("HEAD"), format!("{commit}\n").as_bytes())?;
            aside::write(&staged.join("commondir"), b"../..\n")?;
            let dot_git = top.join(".git");
            let line = [dot_git.as_os_str().as_encoded_bytes(), b"\n"].concat();
            aside::write(&staged.join("gitdir"), &line)?;
            if let Some((index, _)) = spare {
                let before = staged.join(BEFORE);
                let is_there = std::fs::rename(staged.join("index"), &before).is_ok();
                if !is_there || !Index::read(&before).is_ok_and(|found| found == *index) {
                    index.write(&before)?;
                }
            }
            let all = self.layout.common.join("worktrees");
            std::fs::create_dir_all(&all)?;
            let leaf = name.rsplit('/').next().unwrap_or(name);
            for number in 0..TRIES {
                let id = if number == 0 { leaf.to_owned() } else { format!("{leaf}-{number}") };
                let git_dir = all.join(id);
                if git_dir.symlink_metadata().is_ok() {
                    continue;
                }
                let line = [b"gitdir: ", git_dir.as_os_str().as_encoded_bytes(), b"\n"].concat();
                aside::write(&dot_git, &line)?;
                match std::fs::rename(&staged, &git_dir) {
                    // Somebody else has taken the name.
                    Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {}
                    // Git removes the folder when the last working tree is gone.
                    Err(error) if error.kind() == ErrorKind::NotFound => std::fs::create_dir_all(&all)?,
                    Err(error) => return Err(error),
                    Ok(()) => return Ok(git_dir),
                }
            }
            Err(std::io::Error::other(format!("{} is full of others of that name", all.display())))
        };
        written().map_err(|error| format!("the working tree {} cannot be made known to git: {error}", top.display()))
    }

    /// Puts what git keeps about a working tree aside, so that it can be used for another one of the same run. Git does not know
    /// of it then. None, if that cannot be done.
    pub(super) fn put_aside(&self, name: &str, git_dir: &Path) -> Option<PathBuf> {
        let run = name.split('/').next().filter(|_| self.layout.is_plain)?;
        let aside = self.beside(&format!("{run}/aside-{}-{}", std::process::id(), super::number()));
        std::fs::create_dir_all(aside.parent()?).ok()?;
        std::fs::rename(git_dir, &aside).ok().map(|()| aside)
    }

    /// Takes away what git keeps about a working tree.
    pub(super) fn forget(&self, git_dir: &Path) -> Result<(), String> {
        if !self.layout.is_plain {
            let _alone = self.alone()?;
            return remove_all(git_dir);
        }
        let away = self.beside(&format!("{GONE}/{}-{}", std::process::id(), super::number()));
        let moved = away.parent().map_or(Ok(()), std::fs::create_dir_all);
        match moved.and_then(|()| std::fs::rename(git_dir, &away)) {
            Ok(()) => remove_all(&away),
            Err(_) => remove_all(git_dir),
        }
    }

    /// Takes away what a runner left that was killed while it made something known.
    pub(super) fn clear_beside(&self, run: &str) {
        let beside = self.layout.common.join(BESIDE);
        let _ = remove_all(&beside.join(run));
        // Whoever has put something there only wants it to be gone.
        let _ = remove_all(&beside.join(GONE));
        // Only if it is empty.
        let _ = std::fs::remove_dir(beside);
    }

    /// Waits until nobody else has git change what it keeps about working trees.
    pub(super) fn alone(&self) -> Result<File, String> {
        lock::lock(&self.layout.common.join("countersign-trees.lock"))
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.layout.common.join(BESIDE).join(name)
    }
}
