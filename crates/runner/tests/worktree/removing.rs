//! Taking working trees away.

use crate::support::{Repository, git, make, write};
use countersign_runner::worktree::Worktree;
use std::os::unix::fs::{PermissionsExt, symlink};

#[test]
fn trees_are_removed_with_what_git_keeps_about_them_and_others_stay() {
    let it = Repository::new();
    let (trees, head) = (it.trees(), it.head());
    let all: Vec<Worktree> = ["run1/T-1.1", "run1/T-2.1", "run2/T-1.1", "run2/T-3.1"]
        .iter()
        .map(|name| trees.make(name, &head).unwrap())
        .collect();
    it.git(&["worktree", "add", "-q", "--detach", it.beside("users").to_str().unwrap()]);
    let listed = || it.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count();
    assert_eq!(listed(), 6);
    trees.remove(&all[0]).unwrap();
    trees.remove(&all[0]).unwrap();
    assert_eq!(listed(), 5);
    // What a crash can leave: a tree without its .git, one that git still knows but is gone, a folder that is no tree.
    std::fs::remove_file(all[1].top.join(".git")).unwrap();
    std::fs::remove_dir_all(&all[2].top).unwrap();
    write(&it.place(), "run3/T-1.1/half", "x");
    // The user's own, on a disk that is away just now.
    std::fs::rename(it.beside("users"), it.beside("away")).unwrap();
    let gone = trees.sweep(&["run2/T-3.1"]).unwrap();
    assert_eq!(gone, ["run1/T-2.1", "run3/T-1.1"]);
    assert_eq!(listed(), 3);
    assert!(all[3].top.join("src/a.rs").exists() && !it.place().join("run1").exists());
    std::fs::rename(it.beside("away"), it.beside("users")).unwrap();
    assert_eq!(git(&it.beside("users"), &["rev-parse", "HEAD"]), head);
    assert_eq!(trees.sweep(&[]).unwrap(), ["run2/T-3.1"]);
    assert_eq!(trees.sweep(&[]).unwrap(), Vec::<String>::new());
}

#[test]
fn what_an_agent_made_read_only_or_linked_is_removed_and_what_it_links_to_is_not() {
    let it = Repository::new();
    let (trees, tree) = make(&it);
    write(&it.beside("precious"), "file", "x");
    symlink(it.beside("precious"), tree.folder.join("link")).unwrap();
    write(&tree.folder, "closed/inner/file", "x");
    std::fs::set_permissions(tree.folder.join("closed/inner"), std::fs::Permissions::from_mode(0o500)).unwrap();
    std::fs::set_permissions(tree.folder.join("closed"), std::fs::Permissions::from_mode(0o500)).unwrap();
    trees.remove(&tree).unwrap();
    assert!(!tree.top.exists() && it.beside("precious").join("file").exists());
}
