//! Working trees that are used again, and those that are not.

use crate::support::{Repository, git, read, trailers, try_git, write};
use countersign_runner::worktree::{After, Stock, Trees, Worktree};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn inode(tree: &Worktree, name: &str) -> u64 {
    tree.folder.join(name).symlink_metadata().unwrap().ino()
}

/// A repository with so many files that it is worth to tell them apart, and two commits.
fn wide() -> (Repository, [String; 2]) {
    let it = Repository::new();
    (0..80).for_each(|number| it.write(&format!("wide/{number}.txt"), "w"));
    let first = it.commit("first");
    it.write("src/b.rs", "second\n");
    let second = it.commit("second");
    (it, [first, second])
}

#[test]
fn what_nobody_touched_is_not_written_again() {
    let (it, [first, second]) = wide();
    for is_work in [false, true] {
        let stock = Stock::new(it.trees());
        let lend = |name: &str, commit: &str| {
            let name = format!("run1/{name}");
            if is_work { stock.for_work(&name, commit) } else { stock.for_checks(&name, commit) }.unwrap()
        };
        let lent = lend("a.1", &first);
        let was = inode(&lent.tree, "src/a.rs");
        if is_work {
            write(&lent.tree.folder, "src/b.rs", "mine");
        }
        stock.back(lent, if is_work { After::AllEnded } else { After::Untouched });
        stock.settle();
        let again = lend("a.2", &second);
        let found = (inode(&again.tree, "src/a.rs"), read(&again.tree.folder, "src/b.rs"));
        assert_eq!(found, (was, Some("second\n".into())));
        assert_eq!(git(&again.tree.top, &["status", "--porcelain"]), "");
        assert!(!it.place().join("run1/a.1").exists());
        stock.back(again, After::Untouched);
        stock.clear();
        assert_eq!(it.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(std::fs::read_dir(it.place().join("run1")).unwrap().count(), 0);
    }
}

#[test]
fn what_is_done_to_a_tree_while_it_is_kept_is_undone() {
    let (it, [first, second]) = wide();
    let stock = Stock::new(it.trees());
    let lent = stock.for_checks("run1/check.1", &first).unwrap();
    let (was, kept) = (inode(&lent.tree, "src/a.rs"), lent.tree.top.clone());
    stock.back(lent, After::Untouched);
    write(&kept, "wide/conftest.py", "everything passes");
    write(&kept, "wide/1.txt", "W");
    let again = stock.for_checks("run1/check.2", &second).unwrap();
    assert_eq!(inode(&again.tree, "src/a.rs"), was);
    let found = ["wide/conftest.py", "wide/1.txt"].map(|name| read(&again.tree.folder, name));
    assert_eq!(found, [None, Some("w".to_owned())]);
}

#[test]
fn what_is_done_to_what_git_keeps_about_a_tree_while_it_stands_aside_is_undone() {
    type Tampering = (&'static str, fn(&Path));
    let tamperings: [Tampering; 7] = [
        ("nothing", |_| {}),
        ("settings", |aside| write(aside, "config.worktree", "[core]\n\tautocrlf = true\n")),
        ("what is checked out", |aside| write(aside, "HEAD", "ref: refs/heads/main\n")),
        ("where the repository is", |aside| write(aside, "commondir", "/elsewhere\n")),
        ("an index", |aside| write(aside, "index", "DIRC")),
        ("a link", |aside| {
            std::fs::remove_file(aside.join("HEAD")).unwrap();
            write(aside.parent().unwrap(), "precious", "precious");
            std::os::unix::fs::symlink("../precious", aside.join("HEAD")).unwrap();
        }),
        ("gone", |aside| std::fs::remove_dir_all(aside).unwrap()),
    ];
    for (what, tamper) in tamperings {
        let (it, [first, second]) = wide();
        let stock = Stock::new(it.trees());
        let lent = stock.for_checks("run1/check.1", &first).unwrap();
        stock.back(lent, After::Untouched);
        let beside = it.top().join(".git/countersign-new/run1");
        let aside = std::fs::read_dir(&beside).unwrap().next().unwrap().unwrap().path();
        tamper(&aside);
        let again = stock.for_checks("run1/check.2", &second).unwrap();
        let top = &again.tree.top;
        assert_eq!(git(top, &["status", "--porcelain"]), "", "{what}");
        assert_eq!(git(top, &["rev-parse", "HEAD", "--abbrev-ref", "HEAD"]), format!("{second}\nHEAD"), "{what}");
        assert_eq!(read(&again.tree.folder, "src/b.rs").as_deref(), Some("second\n"), "{what}");
        let kept = it.top().join(".git/worktrees/check.2");
        let mut names: Vec<_> = std::fs::read_dir(kept).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["HEAD", "commondir", "gitdir", "index"], "{what}");
        assert!(read(&beside, "precious").is_none_or(|text| text == "precious"), "{what}");
        stock.back(again, After::Untouched);
        stock.clear();
        let _ = std::fs::remove_file(beside.join("precious"));
        assert_eq!(std::fs::read_dir(&beside).unwrap().count(), 0, "{what}");
    }
}

#[test]
fn where_files_are_written_in_another_way_from_now_on_all_are_written_again() {
    let it = Repository::new();
    let first = it.head();
    it.write("docs/.gitattributes", "*.md text eol=crlf\n");
    let second = it.commit("other ends of lines");
    it.write("src/b.rs", "third\n");
    let third = it.commit("third");
    let stock = Stock::new(it.trees());
    for (number, (commit, ends)) in
        [(&first, "\n"), (&second, "\r\n"), (&third, "\r\n"), (&first, "\n")].into_iter().enumerate()
    {
        for check in [false, true] {
            let name = format!("run1/T-{number}.{check}");
            let lent = if check { stock.for_checks(&name, commit) } else { stock.for_work(&name, commit) }.unwrap();
            assert_eq!(read(&lent.tree.folder, "docs/c.md"), Some(format!("c{ends}")), "{number}");
            stock.back(lent, if check { After::Untouched } else { After::AllEnded });
            stock.settle();
        }
    }
}

#[test]
fn checks_are_given_trees_in_which_nothing_has_run() {
    let (it, _) = wide();
    let stock = Stock::new(it.trees());
    let work = stock.for_work("run1/T-1.1", &it.head()).unwrap();
    let (was, top) = (inode(&work.tree, "src/a.rs"), inode(&work.tree, ""));
    stock.back(work, After::AllEnded);
    stock.settle();
    let check = stock.for_checks("run1/check.1", &it.head()).unwrap();
    assert!(inode(&check.tree, "src/a.rs") != was && inode(&check.tree, "") != top);
    // That one was kept all the while, for work.
    assert_eq!(inode(&stock.for_work("run1/T-1.2", &it.head()).unwrap().tree, ""), top);
}

/// A program that stays until it is ended. It says when it has begun.
struct Stays(Child);

impl Stays {
    fn new(folder: &Path, script: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{script}; echo begun; read -r line")]).current_dir(folder).env_clear();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        Self(child)
    }
}

impl Drop for Stays {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_tree_that_somebody_may_still_reach_is_not_used_again() {
    for (what, after, script) in [
        ("nobody knows whether all have ended", After::Unknown, None),
        ("somebody works there", After::AllEnded, Some("true")),
        ("somebody writes there", After::AllEnded, Some("exec 5>>out.txt; cd /")),
        ("somebody looks there", After::AllEnded, Some("exec 5<src; cd /")),
    ] {
        let it = Repository::new();
        let stock = Stock::new(it.trees());
        let work = stock.for_work("run1/T-1.1", &it.head()).unwrap();
        let (top, held) = (inode(&work.tree, ""), work.tree.top.clone());
        // As long as it is open, what is removed does not give its number to the next.
        let _open = std::fs::File::open(&held).unwrap();
        let _stays = script.map(|script| Stays::new(&held, script));
        stock.back(work, after);
        stock.settle();
        let again = stock.for_work("run1/T-1.2", &it.head()).unwrap();
        assert_ne!(inode(&again.tree, ""), top, "{what}");
        assert!(!held.exists() && std::fs::read_dir(it.place().join("run1")).unwrap().count() == 1, "{what}");
    }
}

#[test]
fn only_as_many_are_kept_as_were_needed_at_once() {
    let it = Repository::new();
    let (stock, head) = (Stock::new(it.trees()), it.head());
    let lend = |name: &str| stock.for_checks(&format!("run1/{name}"), &head).unwrap();
    let (one, two) = (lend("a"), lend("b"));
    let kept = || std::fs::read_dir(it.place().join("run1")).unwrap().count();
    for lent in [one, two, lend("c")] {
        stock.back(lent, After::Untouched);
    }
    stock.settle();
    assert_eq!(kept(), 3, "three were out at once");
    let one = lend("d");
    stock.back(one, After::Untouched);
    assert_eq!(kept(), 3);
    stock.clear();
    assert_eq!(kept(), 0);
}

#[test]
fn what_a_killed_runner_left_is_swept_and_the_place_with_it() {
    let it = Repository::new();
    let trees = it.trees();
    let other = trees.make("run2/T-1.1", &it.head()).unwrap();
    // Killed while one was made known, while one was taken away, while one was renamed, and while some were kept.
    write(&it.top(), ".git/countersign-new/run1/T-1.1/HEAD", "x");
    write(&it.place(), "run1/spare-1-1/file", "x");
    let lost = trees.make("run1/T-2.1", &it.head()).unwrap();
    std::fs::rename(&lost.top, it.place().join("run1/T-3.1")).unwrap();
    let known = || it.git(&["worktree", "list"]).lines().count();
    assert_eq!(known(), 3);
    trees.sweep_of("run1").unwrap();
    assert_eq!(known(), 2);
    assert!(!it.place().join("run1").exists() && !it.top().join(".git/countersign-new/run1").exists());
    assert!(other.top.join("src/a.rs").exists());
    trees.sweep_of("run2").unwrap();
    assert!(!it.place().exists() && !it.top().join(".git/countersign-new").exists(), "what is empty is removed");
    for name in ["", "..", "a/b", ".git"] {
        assert!(trees.sweep_of(name).is_err(), "{name:?}");
    }
    trees.make("run3/T-1.1", &it.head()).unwrap();
}

#[test]
fn repositories_of_another_form_are_left_to_git() {
    type Form = (&'static str, fn(&Path) -> bool);
    let forms: &[Form] = &[
        ("refs in tables", |at| try_git(at, &["init", "-q", "--ref-format=reftable", "--initial-branch=main"]).is_ok()),
        ("settings for each working tree", |at| {
            git(at, &["init", "-q", "--initial-branch=main"]);
            git(at, &["config", "extensions.worktreeConfig", "true"]);
            true
        }),
    ];
    for (what, init) in forms {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("main");
        std::fs::create_dir(&root).unwrap();
        // An older git does not know of tables.
        if !init(&root) {
            continue;
        }
        write(&root, "a.txt", "a");
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", "first"]);
        let head = git(&root, &["rev-parse", "HEAD"]);
        let stock = Stock::new(Trees::new(&root, Some(&folder.path().join("trees")), None).unwrap());
        for turn in 0..2 {
            let work = stock.for_work(&format!("run1/T-1.{turn}"), &head).unwrap();
            assert_eq!(git(&work.tree.top, &["rev-parse", "HEAD"]), head, "{what}");
            write(&work.tree.folder, "b.txt", "b");
            let claimed = stock.trees().commit_all(&work.tree, "Work", &trailers("T-1")).unwrap();
            assert_eq!(claimed.changed, ["b.txt"], "{what}");
            stock.back(work, After::AllEnded);
            stock.settle();
            let check = stock.for_checks(&format!("run1/check.{turn}"), &claimed.commit).unwrap();
            assert_eq!(read(&check.tree.folder, "b.txt").as_deref(), Some("b"), "{what}");
            stock.back(check, After::Untouched);
        }
        stock.clear();
        assert_eq!(git(&root, &["worktree", "list"]).lines().count(), 1, "{what}");
    }
}
