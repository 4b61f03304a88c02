//! Making working trees.

use crate::support::{FILES, Repository, git, read, trailers, try_git, write};
use countersign_runner::worktree::Trees;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_working_tree_has_the_files_of_its_commit_and_is_not_seen_from_the_project() {
    let it = Repository::new();
    let old = it.head();
    it.write("src/a.rs", "newer");
    it.commit("second");
    let tree = it.trees().make("run1/T-1.1", &old).unwrap();
    for (name, text) in FILES {
        assert_eq!(read(&tree.folder, name).as_deref(), Some(*text));
    }
    assert_eq!((tree.top.clone(), git(&tree.top, &["rev-parse", "HEAD"])), (tree.folder.clone(), old));
    assert_eq!(it.status(), "");
    assert!(try_git(&tree.top, &["symbolic-ref", "-q", "HEAD"]).is_err(), "it is on no branch");
}

#[test]
fn names_and_commits_that_could_mean_something_else_are_refused() {
    let it = Repository::new();
    let (trees, head) = (it.trees(), it.head());
    for name in ["", "a", "a/b/c", "../a", "a/..", "/a/b", "a/-b", ".a/b", "a/b c", "a//b", "a/b\n"] {
        assert!(trees.make(name, &head).is_err(), "{name:?}");
    }
    for commit in ["", "HEAD", "main", "--help", &head[..10], &"0".repeat(40)] {
        assert!(trees.make("run1/T-1.1", commit).is_err(), "{commit:?}");
    }
    assert!(!it.place().join("run1/T-1.1").exists(), "what failed leaves nothing");
    trees.make("run1/T-1.1", &head).unwrap();
    assert!(trees.make("run1/T-1.1", &head).unwrap_err().contains("is already there"));
    assert!(Trees::new(&it.root(), Some(&it.root().join("trees")), None).unwrap_err().contains("inside the project"));
    let outside = tempfile::tempdir().unwrap();
    assert!(Trees::new(outside.path(), Some(&it.place()), None).unwrap_err().contains("git init"));
}

#[test]
fn hooks_and_signing_of_the_user_play_no_part() {
    let it = Repository::new();
    for hook in ["post-checkout", "reference-transaction", "pre-commit", "post-index-change"] {
        let text = format!("#!/bin/sh\necho {hook} >> {}/hooked\nexit 1\n", it.top().display());
        write(&it.top(), &format!(".git/hooks/{hook}"), &text);
        let path = it.top().join(".git/hooks").join(hook);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    it.git(&["config", "commit.gpgsign", "true"]);
    it.git(&["config", "gpg.program", "/nonexistent"]);
    let claimed = it.claim("T-1", |tree| write(&tree.folder, "src/new.rs", "n"));
    it.land("T-1", &claimed);
    assert_eq!(it.read("src/new.rs").as_deref(), Some("n"));
    assert!(!it.top().join("hooked").exists());
    let author = it.git(&["log", "-1", "--format=%an <%ae> %cn", &claimed.0.commit]);
    assert_eq!(author, "Countersign <countersign@localhost> Countersign");
}

#[test]
fn trees_are_made_at_the_same_time_without_disturbing_each_other() {
    let it = Repository::new();
    let (trees, head) = (it.trees(), it.head());
    let made: Vec<_> = std::thread::scope(|scope| {
        let one = |number: usize| {
            let (trees, head) = (&trees, &head);
            scope.spawn(move || {
                let tree = trees.make(&format!("run{number}/T-1.1"), head)?;
                write(&tree.folder, "src/b.rs", &format!("by {number}"));
                let claimed = trees.commit_all(&tree, "Work", &trailers("T-1"))?;
                trees.remove(&tree).map(|()| claimed)
            })
        };
        let threads: Vec<_> = (0..8).map(one).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (number, claimed) in made.into_iter().enumerate() {
        let commit = claimed.unwrap().commit;
        assert_eq!(it.git(&["show", &format!("{commit}:src/b.rs")]), format!("by {number}"));
    }
}
