//! Whether git has to be asked before a command is taken up.
//!
//! A working tree is found by what is called `.git` in a folder or above. To find the folders takes longer than to look: where they
//! lie is found out once, and whether something lies in them is looked at for each command, so that a repository which was begun a
//! moment ago is one.

use crate::project::Project;
use countersign_runner::git;
use std::path::{Path, PathBuf};

/// What would be there if the project, or where the server was started, lay in a working tree. Nothing, if that is not known.
pub struct Marks(Option<Around>);

struct Around {
    /// The project's folder, and where it really was. Nothing, if it has none.
    root: Option<(PathBuf, PathBuf)>,
    marks: Vec<PathBuf>,
}

impl Marks {
    pub fn around(project: &Project) -> Self {
        let Some(root) = project.root.as_deref() else { return Self(Some(Around { root: None, marks: Vec::new() })) };
        Self(project.here().and_then(|here| Around::of(root, &here)))
    }

    /// Whether there may be a working tree. Where the project's folder is somewhere else by now, nothing is known.
    pub fn is_any_there(&self) -> bool {
        let Some(Around { root, marks }) = &self.0 else { return true };
        root.as_ref().is_some_and(|(root, was)| root.canonicalize().ok().as_ref() != Some(was))
            || marks.iter().any(|mark| mark.symlink_metadata().is_ok())
    }
}

impl Around {
    fn of(root: &Path, here: &Path) -> Option<Self> {
        let real = root.canonicalize().ok()?;
        let marks = both(&real, here);
        Some(Self { root: Some((root.to_owned(), real)), marks })
    }
}

fn both(real: &Path, here: &Path) -> Vec<PathBuf> {
    let mut marks: Vec<PathBuf> = git::marks(real).chain(git::marks(here)).collect();
    marks.sort();
    marks.dedup();
    marks
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_seen_as_soon_as_it_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (root, here) = (real.join("project"), real.join("elsewhere/deep"));
        std::fs::create_dir_all(&root).unwrap();
        for begun in [real.join("elsewhere/.git"), root.join(".git"), real.join(".git")] {
            let marks = Marks(Around::of(&root, &here));
            assert!(!marks.is_any_there());
            std::fs::create_dir_all(&begun).unwrap();
            assert!(marks.is_any_there(), "{}", begun.display());
            std::fs::remove_dir(&begun).unwrap();
        }
        assert!(Marks(None).is_any_there());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_somewhere_else_by_now_may_lie_anywhere() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (root, here) = (real.join("current"), real.join("elsewhere"));
        for version in ["v1", "v2/.git"] {
            std::fs::create_dir_all(real.join(version)).unwrap();
        }
        symlink("v1", &root).unwrap();
        let marks = Marks(Around::of(&root, &here));
        assert!(!marks.is_any_there());
        std::fs::remove_file(&root).unwrap();
        assert!(marks.is_any_there(), "it is gone");
        symlink("v2", &root).unwrap();
        assert!(marks.is_any_there(), "it is another one");
        // The same folder, but in a repository now.
        std::fs::rename(real.join("v1"), real.join("v2/v1")).unwrap();
        symlink("v2/v1", real.join("v1")).unwrap();
        std::fs::remove_file(&root).unwrap();
        symlink("v1", &root).unwrap();
        assert!(marks.is_any_there(), "it was moved");
    }
}
