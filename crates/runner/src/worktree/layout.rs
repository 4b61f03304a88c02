//! Where a repository keeps what. It is asked once; some of it can then be read and written without a process.
//!
//! Git has several forms for refs, and for what it keeps about working trees. Only the oldest is known here, in which both
//! are plain files. In any other, git is asked every time: that takes longer and comes to the same.

use super::call::{Fault, Git, Identity, is_commit, lines, object, pieces};
use super::change::{Change, between};
use super::objects::Objects;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Extensions of a repository that change neither its refs nor its working trees.
const HARMLESS: &[&str] = &["extensions.noop", "extensions.objectformat", "extensions.partialclone"];
/// What is asked for: every extension, whether only some files are checked out, and whether the case of letters counts.
const TELLING: &str = r"^(extensions\..*|core\.sparsecheckout|core\.ignorecase)$";
/// The last of these.
const CASE: &str = "core.ignorecase";

/// Where a repository keeps what, seen from one of its working trees.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The top of the working tree.
    pub(crate) top: PathBuf,
    /// Where the project is below it: empty, or with `/` at its end.
    pub(crate) prefix: String,
    /// What belongs to this working tree alone.
    pub(crate) git_dir: PathBuf,
    /// What all working trees of the repository share.
    pub(crate) common: PathBuf,
    /// Whether refs and what is kept about working trees are plain files.
    pub(crate) is_plain: bool,
    /// Whether names are different where only the case of a letter is.
    pub(crate) is_exact: bool,
    /// What is in its store.
    pub(crate) objects: Arc<Objects>,
}

impl Layout {
    /// That of the working tree in which a folder is.
    ///
    /// # Errors
    /// It is in none, or has a name that cannot be used.
    pub fn of(folder: &Path) -> Result<Self, String> {
        let git = Git::at(folder);
        let ask = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"];
        let out = git.run(&[ask.as_slice(), &["--show-prefix"]].concat(), &[])?;
        let [top, git_dir, common, prefix] =
            lines(&out).ok_or_else(|| format!("a folder above {} has a name that cannot be used", folder.display()))?;
        let (is_plain, is_exact) = match git.run(&["config", "-z", "--name-only", "--get-regexp", TELLING], &[]) {
            Ok(out) => {
                let is = |name: &[u8], known: &str| known.as_bytes() == name;
                let is_harmless = |name: &[u8]| is(name, CASE) || HARMLESS.iter().any(|harmless| is(name, harmless));
                // That anybody has said something about it is enough to ask git more closely.
                (pieces(&out).all(is_harmless), !pieces(&out).any(|name| is(name, CASE)))
            }
            Err(Fault { code, .. }) => (code == Some(1), code == Some(1)),
        };
        let objects = Arc::new(Objects::of(Path::new(&top)));
        Ok(Self {
            top: top.into(),
            prefix,
            git_dir: git_dir.into(),
            common: common.into(),
            is_plain,
            is_exact,
            objects,
        })
    }

    /// Every file that differs between two commits, or trees.
    pub(crate) fn between(&self, old: &str, new: &str) -> Result<Vec<Change>, String> {
        let changes = self.objects.between(old, new);
        changes.map_or_else(|| between(&Git::at(&self.top), old, new), Ok)
    }

    /// Writes a commit of a tree on top of another one, now.
    pub(crate) fn write_commit(
        &self,
        tree: &str,
        parent: &str,
        message: &str,
        who: &Identity,
    ) -> Result<String, String> {
        if let Some(commit) = self.objects.write_commit(tree, parent, message, who) {
            return Ok(commit);
        }
        let arguments = ["commit-tree", tree, "-p", parent, "-F", "-"];
        object(&Git::at(&self.top).run_as(&arguments, message.as_bytes(), Some(who))?)
    }

    /// The commit that is checked out. None before the first.
    pub(crate) fn head(&self) -> Option<String> {
        self.head_in_files().or_else(|| {
            let ask = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
            Git::at(&self.top).run(&ask, &[]).ok().and_then(|out| object(&out).ok())
        })
    }

    /// The same where it is in two plain files. None, if it is not, as when the refs have been packed.
    fn head_in_files(&self) -> Option<String> {
        let line = |path: PathBuf| Some(std::fs::read_to_string(path).ok()?.trim_end_matches('\n').to_owned());
        let head = line(self.git_dir.join("HEAD")).filter(|_| self.is_plain)?;
        let head = match head.strip_prefix("ref: ") {
            Some(name) if name.starts_with("refs/heads/") && is_plain_name(name) => line(self.common.join(name))?,
            Some(_) => return None,
            None => head,
        };
        Some(head).filter(|head| is_commit(head))
    }

    /// The branch that is checked out, by its full name. None, if none is.
    pub(crate) fn branch(&self) -> Option<String> {
        let head = if self.is_plain {
            std::fs::read_to_string(self.git_dir.join("HEAD")).ok()?.strip_prefix("ref: ")?.to_owned()
        } else {
            let out = Git::at(&self.top).run(&["symbolic-ref", "--quiet", "HEAD"], &[]).ok()?;
            String::from_utf8_lossy(&out).into_owned()
        };
        Some(head.trim_end_matches('\n').to_owned())
    }

    /// Makes a ref of our own name a commit.
    pub(crate) fn set_ref(&self, name: &str, commit: &str) -> Result<(), String> {
        // If HEAD is not where it was, the repository has another form by now.
        if is_plain_name(name) && self.head_in_files().is_some() && self.write_ref(name, commit).is_ok() {
            return Ok(());
        }
        Git::at(&self.top).run(&["update-ref", name, commit], &[])?;
        Ok(())
    }

    /// Lets go of the locks on the refs in a folder of our own whose holders were killed before they were done. Only for
    /// whoever is known to be the one that writes there.
    pub(crate) fn unlock_refs(&self, folder: &str) {
        for entry in std::fs::read_dir(self.common.join(folder)).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|it| it == "lock") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// As git does it: whoever makes the lock may write, and the ref is there whole or not at all.
    fn write_ref(&self, name: &str, commit: &str) -> std::io::Result<()> {
        let path = self.common.join(name);
        let lock = self.common.join(format!("{name}.lock"));
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above)?;
        }
        let mut file = std::fs::File::options().write(true).create_new(true).open(&lock)?;
        let written = writeln!(file, "{commit}").and_then(|()| file.sync_data());
        written.and_then(|()| std::fs::rename(&lock, &path)).inspect_err(|_| {
            let _ = std::fs::remove_file(&lock);
        })
    }
}

/// Whether a name of a ref is one that git allows and every file system takes as it is.
fn is_plain_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        let first_and_last = part.bytes().next().into_iter().chain(part.bytes().last());
        !part.is_empty()
            && part.bytes().all(usual)
            && first_and_last.into_iter().all(|byte| byte != b'.')
            && !part.contains("..")
            && !part.ends_with(".lock")
    };
    name.starts_with("refs/") && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_git_allows_are_written_by_hand() {
        for name in ["refs/heads/main", "refs/countersign/0a1b-2c/T-1", "refs/countersign/r/a.b_c"] {
            assert!(is_plain_name(name), "{name}");
        }
        for name in [
            "HEAD",
            "refs",
            "refs//a",
            "refs/../HEAD",
            "refs/a/",
            "refs/.a",
            "refs/a.",
            "refs/a..b",
            "refs/a.lock",
            "refs/a.lock/b",
            "refs/a b",
            "refs/a~1",
            "refs/\u{e4}",
            "refs/a\n",
            "/refs/a",
        ] {
            assert!(!is_plain_name(name), "{name}");
        }
    }

    #[test]
    fn a_ref_is_git_s_own_wherever_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let git = |arguments: &[&str]| {
            let who = Identity::default();
            String::from_utf8(Git::at(at).run_as(arguments, &[], Some(&who)).map_err(|it| it.text).unwrap()).unwrap()
        };
        git(&["init", "-q"]);
        git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        let first = git(&["rev-parse", "HEAD"]).trim().to_owned();
        let second = git(&["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "second"]).trim().to_owned();
        let layout = Layout::of(at).unwrap();
        assert!(layout.is_plain && layout.head() == Some(first.clone()));
        // By hand, over another one, by git because the name is held, by git because HEAD is packed, and by git because
        // the name is unusual.
        for (name, commit) in [("refs/countersign/r/T-1", &first), ("refs/countersign/r/T-1", &second)] {
            layout.set_ref(name, commit).unwrap();
            assert_eq!(git(&["rev-parse", name]).trim(), commit);
        }
        assert!(!layout.common.join("refs/countersign/r/T-1.lock").exists());
        std::fs::write(layout.common.join("refs/countersign/r/T-1.lock"), "").unwrap();
        assert!(layout.set_ref("refs/countersign/r/T-1", &first).unwrap_err().contains("lock"));
        layout.unlock_refs("refs/countersign/r");
        git(&["pack-refs", "--all", "--prune"]);
        assert_eq!((layout.head_in_files(), layout.head()), (None, Some(first.clone())));
        layout.set_ref("refs/countersign/r/T-1", &first).unwrap();
        layout.set_ref("refs/countersign/r/T+1", &first).unwrap();
        assert!(layout.set_ref("refs/countersign/r/T 1", &first).is_err());
        // What only such a ref leads to survives the strictest cleaning.
        layout.set_ref("refs/countersign/r/T-2", &second).unwrap();
        git(&["gc", "-q", "--prune=now"]);
        assert_eq!(git(&["cat-file", "-t", &second]).trim(), "commit");
    }
}
