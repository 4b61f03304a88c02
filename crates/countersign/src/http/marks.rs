//! Whether git has to be asked before a command is taken up.
//!
//! A working tree is found by what is called `.git` in a folder or above. To find the folders takes longer than to look: where they
//! lie is found out once, and whether something lies in them is looked at for each command, so that a repository which was begun a
//! moment ago is one.

use crate::project::Project;
use countersign_runner::git;
use std::path::{Path, PathBuf};

/// What would be there if the project, or where the server was started, lay in a working tree. Nothing, if that is not known.
pub struct Marks(Option<Vec<PathBuf>>);

impl Marks {
    pub fn around(project: &Project) -> Self {
        let Some(root) = project.root.as_deref() else { return Self(Some(Vec::new())) };
        let (real, here) = (root.canonicalize().ok(), project.here());
        Self(real.zip(here).map(|(real, here)| both(&real, &here)))
    }

    /// Whether there may be a working tree.
    pub fn is_any_there(&self) -> bool {
        self.0.as_deref().is_none_or(|marks| marks.iter().any(|mark| mark.symlink_metadata().is_ok()))
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
        for begun in [real.join("elsewhere/.git"), root.join(".git"), real.join(".git")] {
            let marks = Marks(Some(both(&root, &here)));
            assert!(!marks.is_any_there());
            std::fs::create_dir_all(&begun).unwrap();
            assert!(marks.is_any_there(), "{}", begun.display());
            std::fs::remove_dir(&begun).unwrap();
        }
        assert!(Marks(None).is_any_there());
    }
}
