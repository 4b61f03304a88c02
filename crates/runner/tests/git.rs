//! Working trees of real repositories.

#![allow(clippy::unwrap_used, reason = "tests")]

use countersign_runner::git::{staged, tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Repository(tempfile::TempDir);

fn git(folder: &Path, arguments: &[&str]) -> String {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"];
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command.args(settings).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Repository {
    /// One with some files in one commit.
    fn new() -> Self {
        let it = Self::empty();
        for name in ["src/a.rs", "src/b.rs", "docs/c.md"] {
            it.write(name, name);
        }
        it.write(".gitignore", "target/\n");
        it.commit("first");
        it
    }

    fn empty() -> Self {
        let it = Self(tempfile::tempdir().unwrap());
        it.git(&["init", "--quiet", "--initial-branch=main"]);
        it
    }

    fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.0.path(), arguments)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn changed(&self, base: Option<&str>) -> BTreeMap<String, Option<String>> {
        tree(&self.root(), base).unwrap().changed
    }

    fn names(&self, base: Option<&str>) -> Vec<String> {
        self.changed(base).into_keys().collect()
    }
}

#[test]
fn a_clean_tree_differs_in_nothing_and_says_its_commit() {
    let it = Repository::new();
    let found = tree(&it.root(), None).unwrap();
    assert_eq!((found.commit, found.changed.len()), (Some(it.git(&["rev-parse", "HEAD"])), 0));
    // The same bytes with another time are no change.
    it.write("src/a.rs", "src/a.rs");
    assert_eq!(it.names(None), Vec::<String>::new());
}

#[test]
fn every_kind_of_change_is_seen_with_what_the_file_is_now() {
    let it = Repository::new();
    it.write("src/a.rs", "changed");
    it.write("src/new.rs", "abc");
    it.write("target/ignored", "x");
    it.write("staged.txt", "staged");
    it.git(&["add", "staged.txt"]);
    std::fs::remove_file(it.root().join("docs/c.md")).unwrap();
    it.git(&["mv", "src/b.rs", "src/moved.rs"]);
    let found = it.changed(None);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(names, ["docs/c.md", "src/a.rs", "src/b.rs", "src/moved.rs", "src/new.rs", "staged.txt"]);
    assert_eq!((&found["docs/c.md"], &found["src/b.rs"]), (&None, &None));
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(found["src/new.rs"].as_deref(), Some(abc));
}

#[test]
fn what_was_staged_and_undone_in_the_tree_is_still_staged() {
    let it = Repository::new();
    it.write("src/a.rs", "smuggled");
    it.git(&["add", "src/a.rs"]);
    it.write("src/a.rs", "src/a.rs");
    assert_eq!(it.names(None), ["src/a.rs"]);
}

#[test]
fn commits_since_the_base_are_changes_too() {
    let it = Repository::new();
    let base = it.git(&["rev-parse", "HEAD"]);
    it.write("src/a.rs", "committed");
    std::fs::remove_file(it.root().join("src/b.rs")).unwrap();
    it.commit("second");
    it.write("docs/c.md", "not committed");
    assert_eq!(it.names(None), ["docs/c.md"]);
    assert_eq!(it.names(Some(&base)), ["docs/c.md", "src/a.rs", "src/b.rs"]);
    assert_eq!(it.changed(Some(&base))["src/b.rs"], None);
}

#[test]
fn a_file_that_git_was_told_not_to_look_at_is_looked_at() {
    let it = Repository::new();
    it.git(&["update-index", "--assume-unchanged", "src/a.rs"]);
    it.git(&["update-index", "--skip-worktree", "src/b.rs", "docs/c.md"]);
    let before = it.changed(None);
    it.write("src/a.rs", "behind git's back");
    std::fs::remove_file(it.root().join("docs/c.md")).unwrap();
    let after = it.changed(None);
    assert!(before["src/a.rs"].is_some() && after["src/a.rs"].is_some() && before["src/a.rs"] != after["src/a.rs"]);
    assert_eq!(before["src/b.rs"], after["src/b.rs"]);
    // What a sparse checkout leaves out is nobody's change.
    assert!(!after.contains_key("docs/c.md"));
}

#[test]
fn a_base_that_is_no_commit_is_never_handed_to_git() {
    let it = Repository::new();
    let long = "a".repeat(65);
    for base in ["--output=x", "-h", "HEAD", "main", "HEAD~1", "", "abc", "0000000000", &long, "deadbeef;ls"] {
        assert_eq!(tree(&it.root(), Some(base)), None, "{base}");
    }
    assert!(!it.root().join("x").exists());
}

#[test]
fn without_a_commit_everything_is_new_and_without_a_repository_there_is_no_tree() {
    let it = Repository::empty();
    it.write("a", "a");
    it.write("b", "b");
    it.git(&["add", "b"]);
    let found = tree(&it.root(), None).unwrap();
    assert_eq!((found.commit, found.changed.into_keys().collect::<Vec<_>>()), (None, vec!["a".into(), "b".into()]));
    assert_eq!(tree(tempfile::tempdir().unwrap().path(), None), None);
    assert_eq!(tree(&it.root().join(".git"), None), None);
    assert_eq!(tree(&it.root().join("not there"), None), None);
}

#[test]
fn a_folder_of_a_repository_is_a_root_of_its_own() {
    let it = Repository::new();
    let base = it.git(&["rev-parse", "HEAD"]);
    it.write("docs/c.md", "outside");
    it.write("src/a.rs", "committed");
    it.commit("second");
    it.write("src/deep/new.rs", "inside");
    it.write("other", "outside");
    let found = tree(&it.root().join("src"), Some(&base)).unwrap();
    assert_eq!(found.changed.into_keys().collect::<Vec<_>>(), ["a.rs", "deep/new.rs"]);
}

#[test]
fn each_worktree_has_its_own_changes() {
    let it = Repository::new();
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("tree");
    it.git(&["worktree", "add", "--quiet", "-b", "side", path.to_str().unwrap()]);
    std::fs::write(path.join("src/b.rs"), "side").unwrap();
    it.write("src/a.rs", "main");
    assert_eq!(it.names(None), ["src/a.rs"]);
    assert_eq!(tree(&path, None).unwrap().changed.into_keys().collect::<Vec<_>>(), ["src/b.rs"]);
}

#[cfg(unix)]
#[test]
fn another_worktree_inside_is_no_change_but_a_repository_there_is() {
    let it = Repository::new();
    it.git(&["worktree", "add", "--quiet", "-b", "other", ".claude/worktrees/other"]);
    it.write(".claude/worktrees/other/src/a.rs", "changed where it is worked on");
    assert_eq!(it.names(None), [""; 0]);
    // One that the repository does not know of, whatever it says of itself.
    let said = std::fs::read_to_string(it.root().join(".claude/worktrees/other/.git")).unwrap();
    it.write("copy/.git", &said);
    it.write("copy/secret.txt", "hidden");
    git(&it.root(), &["init", "--quiet", "own"]);
    it.write("own/secret.txt", "hidden");
    assert_eq!(it.names(None), ["copy", "own"]);
}

#[test]
fn odd_names_are_seen_and_can_be_named() {
    use std::os::unix::ffi::OsStrExt;
    let it = Repository::new();
    for name in ["src/a\nb", "src/a\\b", "src/e\u{301}", "src/ends ", "src/1 .. 2", "-rf"] {
        it.write(name, name);
    }
    it.write("src/\u{e9}", "composed");
    std::fs::write(it.root().join(std::ffi::OsStr::from_bytes(b"src/\xff")), "x").unwrap();
    let expected =
        ["-rf", "src/%FF", "src/1 .. 2", "src/a%0Ab", "src/a%5Cb", "src/e%CC%81", "src/ends%20", "src/\u{e9}"];
    let mut names = it.names(None);
    // Of two names with one normal form, which one has it depends on their bytes alone.
    let twice =
        names.iter().filter(|name| ["src/e%CC%81", "src/%C3%A9", "src/\u{e9}"].contains(&name.as_str())).count();
    assert_eq!((names.len(), twice), (8, 2), "{names:?}");
    names.retain(|name| name != "src/%C3%A9" && name != "src/e%CC%81");
    let expected: Vec<&str> = expected.into_iter().filter(|name| *name != "src/e%CC%81").collect();
    assert_eq!(names, expected);
}

#[cfg(unix)]
#[test]
fn links_are_what_they_say_and_pipes_are_not_waited_for() {
    let it = Repository::new();
    std::os::unix::fs::symlink("abc", it.root().join("link")).unwrap();
    std::os::unix::fs::symlink("src", it.root().join("folder")).unwrap();
    assert!(Command::new("mkfifo").arg(it.root().join("src/pipe")).status().unwrap().success());
    std::fs::remove_file(it.root().join("src/a.rs")).unwrap();
    assert!(Command::new("mkfifo").arg(it.root().join("src/a.rs")).status().unwrap().success());
    let found = it.changed(None);
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(found["link"].as_deref(), Some(abc));
    assert!(found["folder"].is_some() && found["src/a.rs"].is_some(), "{found:?}");
}

#[test]
fn submodules_and_repositories_inside_are_looked_into() {
    let library = Repository::new();
    let it = Repository::new();
    it.git(&["submodule", "--quiet", "add", library.root().to_str().unwrap(), "vendor/lib"]);
    let base = it.commit("with a submodule");
    assert_eq!(it.names(None), Vec::<String>::new());
    it.write("vendor/lib/src/a.rs", "changed");
    assert_eq!(it.names(None), ["vendor/lib/src/a.rs"]);
    git(&it.root().join("vendor/lib"), &["commit", "--quiet", "-am", "moved"]);
    assert_eq!(it.names(Some(&base)), ["vendor/lib/src/a.rs"]);

    std::fs::create_dir(it.root().join("nested")).unwrap();
    git(&it.root().join("nested"), &["init", "--quiet"]);
    it.write("nested/x", "one");
    let one = it.changed(None)["nested"].clone();
    it.write("nested/x", "two");
    assert!(one.is_some() && it.changed(None)["nested"] != one);
}

#[test]
fn neither_settings_nor_the_environment_of_the_repository_run_anything() {
    let it = Repository::new();
    let trace = it.root().join("trace");
    let script = format!("touch {}", trace.display());
    it.git(&["config", "core.fsmonitor", &script]);
    it.git(&["config", "diff.external", &script]);
    it.git(&["config", "core.pager", &script]);
    it.git(&["config", "alias.status", &format!("!{script}")]);
    it.write("src/a.rs", "changed");
    let before = std::fs::read(it.root().join(".git/index")).unwrap();
    assert_eq!(it.names(None), ["src/a.rs"]);
    assert!(!trace.exists());
    assert_eq!(std::fs::read(it.root().join(".git/index")).unwrap(), before, "looking writes nothing");
}

#[test]
fn what_a_commit_would_change_is_what_is_staged() {
    let it = Repository::new();
    it.write("src/a.rs", "staged");
    it.git(&["add", "src/a.rs"]);
    it.git(&["rm", "--quiet", "--cached", "src/b.rs"]);
    it.write("docs/c.md", "not staged");
    let found = staged(&it.root(), None).unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["src/a.rs", "src/b.rs"].map(PathBuf::from));
    // The index that git names to a hook is the one that counts.
    let other = it.root().join(".git/other");
    std::fs::copy(it.root().join(".git/index"), &other).unwrap();
    it.git(&["reset", "--quiet"]);
    assert_eq!(staged(&it.root(), None).unwrap().len(), 0);
    assert_eq!(staged(&it.root(), Some(&other)).unwrap().len(), 2);
    let fresh = Repository::empty();
    fresh.write("a", "a");
    fresh.git(&["add", "a"]);
    assert_eq!(staged(&fresh.root(), None).unwrap().len(), 1);
}
