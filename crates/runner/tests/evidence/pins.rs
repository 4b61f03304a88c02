//! Pinned files in real repositories.

use countersign_runner::evidence::pin;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Repository {
    folder: tempfile::TempDir,
    base: String,
}

impl Repository {
    /// One whose base has a few tests, and a checkout with the worker's later commit.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut it = Self { folder, base: String::new() };
        it.git(&["init", "--quiet", "--initial-branch=main"]);
        for name in ["tests/a.py", "tests/deep/b.py", "tests/[x].py", "src/code.py"] {
            it.write(name, name);
        }
        it.write(".gitignore", "*.tmp\n");
        it.commit();
        it.base = it.git(&["rev-parse", "HEAD"]);
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "x"]);
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        let settings = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let output = command.args(settings).args(arguments).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn pin(&self, pins: &[&str]) -> Result<Vec<String>, String> {
        let pins: Vec<String> = pins.iter().map(|pin| (*pin).to_owned()).collect();
        let done = pin(self.folder.path(), &self.base, &pins).map_err(|fault| fault.to_string());
        let left = std::fs::read_dir(self.path(".git")).unwrap().filter_map(Result::ok);
        let left: Vec<_> = left.filter(|it| it.file_name().to_string_lossy().starts_with("countersign")).collect();
        assert!(left.is_empty(), "{left:?}");
        done
    }
}

#[test]
fn pinned_files_are_put_back_and_named() {
    let it = Repository::new();
    it.write("tests/a.py", "assert True");
    std::fs::remove_file(it.path("tests/deep/b.py")).unwrap();
    it.write("tests/conftest.py", "skip everything");
    it.write("src/code.py", "work");
    it.commit();
    it.write("tests/ignored.tmp", "x");
    it.write("tests/untracked/c.py", "x");
    let differed = it.pin(&["tests"]).unwrap();
    let expected = ["tests/a.py", "tests/deep/b.py", "tests/conftest.py", "tests/ignored.tmp", "tests/untracked/c.py"];
    assert_eq!(differed, expected);
    assert_eq!(
        (it.read("tests/a.py"), it.read("tests/deep/b.py")),
        ("tests/a.py".to_owned(), "tests/deep/b.py".to_owned())
    );
    for name in ["tests/conftest.py", "tests/ignored.tmp", "tests/untracked/c.py"] {
        assert!(!it.path(name).exists(), "{name}");
    }
    assert_eq!(it.read("src/code.py"), "work");
    assert_eq!(it.pin(&["tests"]).unwrap(), Vec::<String>::new(), "a second time there is nothing to do");
}

#[test]
fn what_is_not_pinned_stays() {
    let it = Repository::new();
    it.write("tests/a.py", "one");
    it.write("tests/[x].py", "two");
    it.write("tests/x.py", "three");
    it.commit();
    assert_eq!(it.pin(&["tests/[x].py"]).unwrap(), ["tests/[x].py"], "names are no patterns");
    assert_eq!((it.read("tests/a.py"), it.read("tests/x.py")), ("one".to_owned(), "three".to_owned()));
    assert_eq!(it.read("tests/[x].py"), "tests/[x].py");
    assert_eq!(it.pin(&["absent"]).unwrap(), Vec::<String>::new());
    assert_eq!(it.pin(&[]).unwrap(), Vec::<String>::new());
}

#[test]
fn a_folder_that_became_a_link_is_a_folder_again_and_its_target_stays() {
    let (it, outside) = (Repository::new(), tempfile::tempdir().unwrap());
    std::fs::write(outside.path().join("a.py"), "theirs").unwrap();
    std::fs::remove_dir_all(it.path("tests")).unwrap();
    symlink(outside.path(), it.path("tests")).unwrap();
    it.commit();
    it.pin(&["tests"]).unwrap();
    assert!(!it.path("tests").symlink_metadata().unwrap().is_symlink());
    assert_eq!(it.read("tests/a.py"), "tests/a.py");
    assert_eq!(std::fs::read_to_string(outside.path().join("a.py")).unwrap(), "theirs");
}

#[test]
fn a_file_that_became_a_folder_and_a_changed_mode_are_put_back() {
    use std::os::unix::fs::PermissionsExt;
    let it = Repository::new();
    std::fs::remove_file(it.path("tests/a.py")).unwrap();
    it.write("tests/a.py/inside", "x");
    std::fs::set_permissions(it.path("tests/deep/b.py"), std::fs::Permissions::from_mode(0o755)).unwrap();
    it.commit();
    it.pin(&["tests"]).unwrap();
    assert_eq!(it.read("tests/a.py"), "tests/a.py");
    assert_eq!(it.path("tests/deep/b.py").metadata().unwrap().permissions().mode() & 0o111, 0);
}

#[test]
fn what_the_worker_told_git_plays_no_part() {
    let it = Repository::new();
    it.git(&["update-index", "--assume-unchanged", "tests/a.py"]);
    it.write("tests/a.py", "assert True");
    it.write(".gitattributes", "*.py text eol=crlf working-tree-encoding=UTF-16\n");
    assert_eq!(it.pin(&["tests"]).unwrap(), ["tests/a.py"]);
    assert_eq!(it.read("tests/a.py"), "tests/a.py");
}

#[test]
fn what_cannot_be_pinned_is_refused() {
    let it = Repository::new();
    for pins in [["../out"], ["/etc"], [""]] {
        assert!(it.pin(&pins).unwrap_err().contains("cannot be pinned"), "{pins:?}");
    }
    for base in ["HEAD", "--help", "0000000000000000000000000000000000000000"] {
        assert!(pin(it.folder.path(), base, &["tests".to_owned()]).is_err(), "{base}");
    }
    let plain = tempfile::tempdir().unwrap();
    assert!(pin(plain.path(), &it.base, &["tests".to_owned()]).is_err());
    assert!(pin(Path::new("/nonexistent"), &it.base, &["tests".to_owned()]).is_err());
}
