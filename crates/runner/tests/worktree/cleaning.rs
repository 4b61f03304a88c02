//! Nobody can tell a tree that is used again from a new one, whatever was left in it.

use crate::support::{Repository, git, trailers, try_git, write};
use countersign_runner::worktree::{After, Stock, Worktree};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Everything in a folder: names, modes, and what is in files and links.
fn picture(top: &Path) -> BTreeMap<PathBuf, (u32, String)> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![top.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path == top.join(".git") {
                continue;
            }
            let meta = path.symlink_metadata().unwrap();
            let text = if meta.is_symlink() {
                path.read_link().unwrap().display().to_string()
            } else if meta.is_dir() {
                folders.push(path.clone());
                String::new()
            } else {
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
            };
            found.insert(path.strip_prefix(top).unwrap().to_owned(), (meta.mode(), text));
        }
    }
    found
}

/// What git says of a tree, and what it keeps about it.
fn known(tree: &Worktree) -> (String, String, Vec<String>) {
    let git_dir = git(&tree.top, &["rev-parse", "--absolute-git-dir"]);
    let mut kept: Vec<String> = std::fs::read_dir(git_dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    kept.sort();
    let status = git(&tree.top, &["status", "--porcelain", "--ignored", "--untracked-files=all"]);
    (git(&tree.top, &["rev-parse", "HEAD"]), status, kept)
}

/// What somebody leaves who worked in a tree.
type Left = (&'static str, fn(&Path));

const LEFT: &[Left] = &[
    ("nothing", |_| {}),
    ("a change", |at| write(at, "src/a.rs", "changed")),
    ("a change of the same size, with the old time", |at| {
        let file = at.join("src/b.rs");
        let time = file.metadata().unwrap().modified().unwrap();
        write(at, "src/b.rs", "B\n");
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    }),
    ("a change back", |at| {
        write(at, "src/b.rs", "B\n");
        write(at, "src/b.rs", "b\n");
    }),
    ("files", |at| {
        write(at, "new.txt", "n");
        write(at, "src/deep/er/new.txt", "n");
        std::fs::create_dir_all(at.join("empty/folder")).unwrap();
    }),
    ("ignored files", |at| {
        write(at, "target/debug/build", "x");
        write(at, "src/x.log", "x");
        write(at, ".countersign/ledger", "x");
    }),
    ("fewer files", |at| std::fs::remove_dir_all(at.join("docs")).unwrap()),
    ("modes", |at| {
        let set = |name: &str, mode| std::fs::set_permissions(at.join(name), PermissionsExt::from_mode(mode)).unwrap();
        set("src/a.rs", 0o600);
        set("src/b.rs", 0o777);
        set("docs/deep", 0o700);
        set("docs", 0o500);
    }),
    ("links", |at| {
        std::fs::remove_file(at.join("src/b.rs")).unwrap();
        symlink("a.rs", at.join("src/b.rs")).unwrap();
        std::fs::rename(at.join("docs"), at.join("moved")).unwrap();
        symlink("moved", at.join("docs")).unwrap();
    }),
    ("a folder for a file", |at| {
        std::fs::remove_file(at.join("src/b.rs")).unwrap();
        write(at, "src/b.rs/inner", "i");
    }),
    ("commits, a branch and a merge in the middle", |at| {
        let part = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let name = format!("{}-{}", part(at.parent().unwrap()), part(at));
        git(at, &["checkout", "-qb", &format!("{name}-one")]);
        write(at, "src/b.rs", "one");
        git(at, &["commit", "-qam", "one"]);
        git(at, &["checkout", "-qb", &format!("{name}-two"), "HEAD~1"]);
        write(at, "src/b.rs", "two");
        git(at, &["commit", "-qam", "two"]);
        assert!(try_git(at, &["merge", &format!("{name}-one")]).is_err());
    }),
    ("an index that hides", |at| {
        git(at, &["update-index", "--assume-unchanged", "src/a.rs"]);
        git(at, &["update-index", "--skip-worktree", "src/b.rs"]);
        write(at, "src/a.rs", "A");
        write(at, "src/b.rs", "B");
    }),
    ("an index that lies", |at| {
        write(at, "src/a.rs", "A");
        git(at, &["add", "-A"]);
    }),
    ("a .git of its own", |at| {
        std::fs::remove_file(at.join(".git")).unwrap();
        git(at, &["init", "-q"]);
    }),
    ("a .git with another name", |at| {
        std::fs::hard_link(at.join(".git"), at.with_extension("another")).unwrap();
    }),
    ("a .git that leads elsewhere", |at| {
        let elsewhere = at.with_extension("elsewhere");
        std::fs::rename(at.join(".git"), &elsewhere).unwrap();
        symlink(&elsewhere, at.join(".git")).unwrap();
    }),
    ("a .git of another text and mode", |at| {
        write(at, ".git", &"x".repeat(1000));
        std::fs::set_permissions(at.join(".git"), PermissionsExt::from_mode(0o755)).unwrap();
    }),
    ("a .git of another text", |at| write(at, ".git", &"x".repeat(1000))),
    ("repositories inside", |at| {
        std::fs::create_dir_all(at.join("src/inner")).unwrap();
        git(&at.join("src/inner"), &["init", "-q"]);
    }),
    ("what may not be read", |at| {
        write(at, "closed/inner/file", "x");
        std::fs::set_permissions(at.join("closed/inner"), PermissionsExt::from_mode(0o000)).unwrap();
    }),
    ("something in the margin of a folder", |at| {
        let set = rustix::fs::setxattr(at.join("src"), "user.left", b"x", rustix::fs::XattrFlags::empty());
        assert!(set.is_ok() || set == Err(rustix::io::Errno::NOTSUP));
    }),
];

#[test]
fn nothing_is_seen_of_whoever_worked_in_a_tree_before() {
    let it = Repository::new();
    let first = it.head();
    it.write("src/a.rs", "second\n");
    it.write("later.txt", "l");
    std::fs::remove_file(it.root().join("docs/c.md")).unwrap();
    let second = it.commit("second");
    for (number, (what, leave)) in LEFT.iter().enumerate() {
        let stock = Stock::new(it.trees());
        for (turn, next) in [&second, &first].into_iter().enumerate() {
            let commit = if turn == 0 { &first } else { &second };
            let lent = stock.for_work(&format!("run{number}/T-{turn}.1"), commit).unwrap();
            leave(&lent.tree.folder);
            stock.back(lent, After::AllEnded);
            stock.settle();
            let again = stock.for_work(&format!("run{number}/T-{turn}.2"), next).unwrap();
            let new = it.trees().make(&format!("run{number}/new.{turn}"), next).unwrap();
            assert_eq!(picture(&again.tree.top), picture(&new.top), "{what}");
            assert_eq!(known(&again.tree), known(&new), "{what}");
            let named = |tree: &Worktree| {
                let found = tree.top.join(".git").symlink_metadata().unwrap();
                let text = std::fs::read_to_string(tree.top.join(".git")).unwrap();
                let git_dir = git(&tree.top, &["rev-parse", "--absolute-git-dir"]);
                assert_eq!(text, format!("gitdir: {git_dir}\n"), "{what}");
                (found.file_type().is_file(), found.nlink(), found.mode(), found.uid())
            };
            assert_eq!(named(&again.tree), named(&new), "{what}");
            let mut margin = [0_u8; 64];
            let margin = rustix::fs::listxattr(again.tree.folder.join("src"), &mut margin);
            assert!(margin == Ok(0) || margin == Err(rustix::io::Errno::NOTSUP), "{what}");
            // What is claimed in it is what was done in it.
            write(&again.tree.folder, "src/b.rs", "B\n");
            let claimed = it.trees().commit_all(&again.tree, "Work", &trailers("T-1")).unwrap();
            assert_eq!(claimed.changed, ["src/b.rs"], "{what}");
            it.trees().remove(&new).unwrap();
            stock.back(again, After::AllEnded);
        }
        stock.clear();
    }
}
