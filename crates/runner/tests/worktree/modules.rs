//! Submodules in working trees.

use crate::support::{Repository, git, read, trailers, write};
use countersign_runner::worktree::{After, Stock};

/// A repository with a submodule `module`, in which there is another one, `inner`.
fn nested() -> (Repository, [Repository; 2]) {
    let (it, middle, inner) = (Repository::new(), Repository::new(), Repository::new());
    for (repository, text) in [(&middle, "middle"), (&inner, "inner")] {
        repository.write("own", text);
        repository.commit("with a file of its own");
    }
    middle.git(&["submodule", "--quiet", "add", inner.top().to_str().unwrap(), "inner"]);
    middle.commit("with a submodule");
    it.git(&["submodule", "--quiet", "add", middle.top().to_str().unwrap(), "module"]);
    it.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    it.commit("with submodules");
    (it, [middle, inner])
}

#[test]
fn submodules_are_filled_as_the_commit_names_them_and_nothing_is_fetched() {
    let (it, others) = nested();
    drop(others);
    it.write("module/src/a.rs", "edited");
    write(&it.top().join(".git/modules/module/hooks"), "post-checkout", "#!/bin/sh\ntouch ran\n");
    let trees = it.trees();
    let tree = trees.make("run1/T-1.1", &it.head()).unwrap();
    assert_eq!(read(&tree.folder, "module/src/b.rs").as_deref(), Some("b\n"));
    assert_eq!(read(&tree.folder, "module/src/a.rs").as_deref(), Some("a1\na2\na3\na4\na5\n"));
    assert_eq!(read(&tree.folder, "module/inner/docs/c.md").as_deref(), Some("c\n"));
    assert!(!tree.folder.join("module/ran").exists());
    // To git all is as it should be, and there is nothing to do.
    assert_eq!(git(&tree.folder, &["status", "--porcelain"]), "");
    assert_eq!(git(&tree.folder.join("module"), &["status", "--porcelain"]), "");
    git(&tree.folder, &["submodule", "--quiet", "update", "--init", "--recursive"]);
    // A call that was ended leaves a lock.
    write(&it.top(), ".git/worktrees/T-1.1/countersign-module.lock", "");
    assert_eq!(trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap().left_out, Vec::<String>::new());
    trees.remove(&tree).unwrap();
    assert!(!tree.top.exists());
    assert_eq!(it.read("module/src/a.rs").as_deref(), Some("edited"));
}

#[test]
fn whoever_works_in_a_submodule_is_found_out_and_harms_nobody() {
    let (it, _others) = nested();
    let trees = it.trees();
    let of_main = || git(&it.top().join("module"), &["for-each-ref"]) + &git(&it.top().join("module"), &["status"]);
    let before = of_main();
    for (n, work) in ["edit", "commit", "inner", "remove"].into_iter().enumerate() {
        let tree = trees.make(&format!("run1/T-1.{n}"), &it.head()).unwrap();
        let module = tree.folder.join("module");
        write(&tree.folder, "src/b.rs", "B");
        let expected = match work {
            "inner" => {
                write(&module, "inner/src/a.rs", "edited");
                "module/inner"
            }
            "remove" => {
                std::fs::remove_dir_all(module.join("src")).unwrap();
                "module"
            }
            _ => {
                write(&module, "src/a.rs", "edited");
                if work == "commit" {
                    git(&module, &["commit", "-qam", "moved"]);
                    git(&module, &["gc", "--quiet", "--prune=now"]);
                }
                "module"
            }
        };
        let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
        assert_eq!((claimed.changed, claimed.left_out), (vec!["src/b.rs".to_owned()], vec![expected.to_owned()]));
        trees.remove(&tree).unwrap();
        assert_eq!(of_main(), before, "{work}");
    }
    git(&it.top().join("module"), &["fsck", "--strict"]);
}

#[test]
fn trees_with_submodules_are_made_anew_each_time() {
    let (it, _others) = nested();
    let stock = Stock::new(it.trees());
    for (n, after) in [After::Untouched, After::AllEnded, After::Untouched].into_iter().enumerate() {
        let lent = stock.for_checks(&format!("run1/T-1.{n}"), &it.head()).unwrap();
        assert_eq!(read(&lent.tree.folder, "module/src/b.rs").as_deref(), Some("b\n"));
        write(&lent.tree.folder, "module/src/b.rs", "left behind");
        let top = lent.tree.top.clone();
        stock.back(lent, after);
        stock.settle();
        assert!(!top.exists());
    }
    stock.clear();
}

#[test]
fn what_filters_write_otherwise_than_they_read_is_no_change() {
    let (it, other) = (Repository::new(), Repository::new());
    for name in ["a.txt", "b.txt"] {
        other.write(name, "one\r\ntwo\r\n");
    }
    other.commit("with other ends of lines");
    other.write(".gitattributes", "*.txt text\n");
    other.git(&["add", ".gitattributes"]);
    other.git(&["commit", "-qm", "with attributes"]);
    it.git(&["submodule", "--quiet", "add", other.top().to_str().unwrap(), "module"]);
    it.commit("with a submodule");
    let trees = it.trees();
    let tree = trees.make("run1/T-1.1", &it.head()).unwrap();
    let left_out = || trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap().left_out;
    assert_eq!(read(&tree.folder, "module/a.txt").as_deref(), Some("one\r\ntwo\r\n"));
    assert_eq!(left_out(), Vec::<String>::new());
    write(&tree.folder, "module/a.txt", "one\r\nthree\r\n");
    assert_eq!(left_out(), ["module"]);
    write(&tree.folder, "module/a.txt", "one\r\ntwo\r\n");
    assert_eq!(left_out(), Vec::<String>::new());
    std::fs::remove_file(tree.folder.join("module/b.txt")).unwrap();
    assert_eq!(left_out(), ["module"]);
    trees.remove(&tree).unwrap();
}

#[test]
fn submodules_that_cannot_be_filled_stay_empty_and_it_is_said() {
    for inside in ["", "inner/"] {
        let (it, _others) = nested();
        let trees = it.trees();
        let before = trees.make("run1/T-1.1", &it.head()).unwrap();
        assert_eq!(before.unfilled, Vec::<String>::new());
        let module = it.top().join(format!("module/{inside}"));
        let blob = git(&module, &["rev-parse", "HEAD:own"]);
        let objects = git(&module, &["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
        std::fs::remove_file(format!("{objects}/{}/{}", &blob[..2], &blob[2..])).unwrap();
        let tree = trees.make("run1/T-1.2", &it.head()).unwrap();
        let [said] = &tree.unfilled[..] else { panic!("{:?}", tree.unfilled) };
        let name = format!("module/{inside}");
        let name = name.trim_end_matches('/');
        assert!(said.starts_with(&format!("submodule {name} cannot be filled, and stays empty")), "{said}");
        assert_eq!(std::fs::read_dir(tree.folder.join(name)).unwrap().count(), 0);
        assert_eq!(tree.folder.join("module/src/b.rs").exists(), !inside.is_empty());
        assert_eq!(trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap().left_out, Vec::<String>::new());
    }
}
