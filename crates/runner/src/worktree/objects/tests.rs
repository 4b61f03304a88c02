//! Whatever is answered here is what git itself answers.

use super::{Edit, Objects};
use crate::worktree::call::{Git, Identity};
use crate::worktree::change::between;
use std::collections::BTreeMap;
use std::path::Path;

fn git(at: &Path, arguments: &[&str]) -> String {
    let who = Identity::default();
    let said = Git::at(at).run_as(arguments, &[], Some(&who)).map_err(|fault| fault.text).unwrap();
    String::from_utf8(said).unwrap().trim().to_owned()
}

/// A repository with folders in folders, and names that git orders otherwise than letters are.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q"]);
    for name in ["a", "a.b", "b/c", "b/d/e", "b.c", "b0", "z/\u{e4}"] {
        write(folder.path(), name, name);
    }
    commit(folder.path());
    folder
}

fn write(at: &Path, name: &str, text: &str) {
    let path = at.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn commit(at: &Path) -> String {
    git(at, &["add", "-A"]);
    git(at, &["commit", "-q", "--allow-empty", "-m", "m"]);
    git(at, &["rev-parse", "HEAD"])
}

/// Goes to a commit, changes something, and commits that.
fn changed(at: &Path, from: &str, change: &dyn Fn(&Path)) -> String {
    git(at, &["checkout", "-q", "--detach", from]);
    change(at);
    commit(at)
}

type Changing = fn(&Path);

/// Each changes what no other one does, or takes something away, or stands in somebody's way.
const CHANGES: &[(&str, Changing)] = &[
    ("nothing", |_| {}),
    ("a new file", |at| write(at, "n", "n")),
    ("a new folder", |at| write(at, "new/deep/n", "n")),
    ("a file beside", |at| write(at, "b/d/f", "f")),
    ("another content", |at| write(at, "b/c", "C")),
    ("another content of the same", |at| write(at, "b/c", "CC")),
    ("a mode", |at| {
        let path = at.join("a.b");
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }),
    ("a link", |at| std::os::unix::fs::symlink("a", at.join("link")).unwrap()),
    ("gone", |at| std::fs::remove_file(at.join("b/d/e")).unwrap()),
    ("renamed", |at| std::fs::rename(at.join("z"), at.join("y")).unwrap()),
    ("a folder for a file", |at| {
        std::fs::remove_file(at.join("a")).unwrap();
        write(at, "a/x", "x");
    }),
    ("a file for a folder", |at| {
        std::fs::remove_dir_all(at.join("b")).unwrap();
        write(at, "b", "b");
    }),
    ("a folder where another has a file", |at| write(at, "n/n", "n")),
];

#[test]
fn two_commits_differ_as_git_says_and_the_one_becomes_the_other() {
    let repository = repository();
    let (at, base) = (repository.path(), git(repository.path(), &["rev-parse", "HEAD"]));
    let objects = Objects::of(at);
    let commits: Vec<String> = CHANGES.iter().map(|(_, change)| changed(at, &base, change)).collect();
    for (old, old_name) in commits.iter().zip(CHANGES) {
        for (new, new_name) in commits.iter().zip(CHANGES) {
            let name = format!("{} to {}", old_name.0, new_name.0);
            let expected = between(&Git::at(at), old, new).unwrap();
            assert_eq!(objects.between(old, new), Some(expected.clone()), "{name}");
            let after = |(mode, object): (&str, &str)| (mode.to_owned(), object.to_owned());
            let edits: BTreeMap<Vec<u8>, Edit> =
                expected.iter().map(|change| (change.name.clone(), change.after().map(after))).collect();
            let tree = git(at, &["rev-parse", &format!("{new}^{{tree}}")]);
            assert_eq!(objects.edited(old, edits), Some(tree), "{name}");
        }
    }
    // What is not there, and what is no name, is left to git; and it is asked again.
    assert_eq!(objects.between(&base, &"1".repeat(40)), None);
    assert_eq!(objects.between(&base, "HEAD"), None);
    assert!(objects.between(&base, &commits[0]).is_some());
}

#[test]
fn what_is_merged_here_is_what_git_would_make_of_it() {
    let repository = repository();
    let (at, base) = (repository.path(), git(repository.path(), &["rev-parse", "HEAD"]));
    let objects = Objects::of(at);
    let commits: Vec<String> = CHANGES.iter().map(|(_, change)| changed(at, &base, change)).collect();
    let mut merged = 0;
    for (ours, our_name) in commits.iter().zip(CHANGES) {
        for (theirs, their_name) in commits.iter().zip(CHANGES) {
            let Some(tree) = objects.merged(&base, ours, theirs) else { continue };
            let merge_base = format!("--merge-base={base}");
            let expected = git(at, &["merge-tree", "--write-tree", "--no-messages", &merge_base, ours, theirs]);
            assert_eq!(tree, expected, "{} and {}", our_name.0, their_name.0);
            merged += 1;
        }
    }
    // Nothing with itself, and six that take nothing away and meet only where they change the same.
    assert!(merged > 40, "{merged}");
    let of = |name: &str| commits.get(CHANGES.iter().position(|(it, _)| *it == name).unwrap()).unwrap().as_str();
    for (ours, theirs) in [
        ("another content", "another content of the same"),
        ("a new file", "a folder where another has a file"),
        ("a folder where another has a file", "a new file"),
        ("renamed", "a new file"),
        ("a mode", "gone"),
    ] {
        assert_eq!(objects.merged(&base, of(ours), of(theirs)), None, "{ours} and {theirs}");
    }
}

#[test]
fn a_commit_is_written_as_git_writes_it() {
    let repository = repository();
    let (at, head) = (repository.path(), git(repository.path(), &["rev-parse", "HEAD"]));
    let objects = Objects::of(at);
    let tree = git(at, &["rev-parse", "HEAD^{tree}"]);
    let (who, message) = (Identity::default(), "Line\n\nKey: \u{e4}\n");
    let commit = objects.write_commit(&tree, &head, message, &who).unwrap();
    let said = git(at, &["cat-file", "commit", &commit]);
    let time = git(at, &["log", "-1", "--format=%at", &commit]);
    let zone = git(at, &["log", "-1", "--format=%ad", "--date=format:%z", &commit]);
    let line = format!("Countersign <countersign@localhost> {time} {zone}");
    let expected = format!("tree {tree}\nparent {head}\nauthor {line}\ncommitter {line}\n\n{message}");
    assert_eq!(said, expected.trim());
    assert_eq!(git(at, &["fsck", "--strict", "--no-dangling"]), "");
    for name in ["", " a", "a\n", "a<b", "a."] {
        let who = Identity { name: name.into(), ..who.clone() };
        assert_eq!(objects.write_commit(&tree, &head, message, &who), None, "{name:?}");
    }
    assert_eq!(objects.write_commit("HEAD^{tree}", &head, message, &who), None);
}

#[test]
fn repositories_in_repositories_are_left_to_git() {
    let repository = repository();
    let (at, base) = (repository.path(), git(repository.path(), &["rev-parse", "HEAD"]));
    let entry = format!("160000,{base},inner");
    git(at, &["update-index", "--add", "--cacheinfo", &entry]);
    git(at, &["commit", "-q", "-m", "inner"]);
    let objects = Objects::of(at);
    assert_eq!(objects.between(&base, &git(at, &["rev-parse", "HEAD"])), None);
    let edits = BTreeMap::from([(b"inner".to_vec(), Some(("160000".to_owned(), base.clone())))]);
    assert_eq!(objects.edited(&base, edits), None);
}

#[test]
fn what_is_too_deep_is_left_to_git() {
    let repository = repository();
    let base = git(repository.path(), &["rev-parse", "HEAD"]);
    let objects = Objects::of(repository.path());
    let blob = git(repository.path(), &["hash-object", "-w", "-t", "blob", "/dev/null"]);
    for (depth, is_ours) in [(150, true), (1900, false)] {
        let name = format!("{}f", "d/".repeat(depth)).into_bytes();
        let edits = BTreeMap::from([(name, Some(("100644".to_owned(), blob.clone())))]);
        assert_eq!(objects.edited(&base, edits).is_some(), is_ours, "{depth}");
    }
}
