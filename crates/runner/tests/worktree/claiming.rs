//! What an agent left becomes one commit.

use crate::support::{Repository, git, make, read, trailers, try_git, write};
use countersign_runner::worktree::{Identity, Trees};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// Every file of a commit, with its content.
fn files(it: &Repository, commit: &str) -> Vec<(String, String)> {
    let names = it.git(&["ls-tree", "-r", "-z", "--name-only", commit]);
    let show = |name: &str| (name.to_owned(), it.git(&["show", &format!("{commit}:{name}")]));
    names.split('\0').filter(|name| !name.is_empty()).map(show).collect()
}

/// What an agent does, and what is then claimed as changed.
type Work = (&'static str, fn(&Path), &'static [&'static str]);

const WORKS: &[Work] = &[
    ("nothing", |_| {}, &[]),
    ("touches a file", |at| write(at, "src/b.rs", "b\n"), &[]),
    ("changes a file", |at| write(at, "src/b.rs", "B\n"), &["src/b.rs"]),
    ("adds a file", |at| write(at, "src/new/n.rs", "n"), &["src/new/n.rs"]),
    ("removes a file", |at| std::fs::remove_file(at.join("src/b.rs")).unwrap(), &["src/b.rs"]),
    ("removes a folder", |at| std::fs::remove_dir_all(at.join("docs")).unwrap(), &["docs/c.md", "docs/deep/d.md"]),
    ("adds what is ignored", |at| write(at, "target/x", "x"), &[]),
    (
        "stages",
        |at| {
            write(at, "src/new.rs", "n");
            git(at, &["add", "-A"]);
        },
        &["src/new.rs"],
    ),
    (
        "stages, and changes it again",
        |at| {
            write(at, "src/b.rs", "staged");
            git(at, &["add", "-A"]);
            write(at, "src/b.rs", "b\n");
        },
        &[],
    ),
    (
        "commits",
        |at| {
            write(at, "src/new.rs", "n");
            git(at, &["add", "-A"]);
            git(at, &["commit", "-qm", "mine"]);
            write(at, "src/b.rs", "B");
        },
        &["src/b.rs", "src/new.rs"],
    ),
    (
        "makes a branch and commits",
        |at| {
            git(at, &["checkout", "-qb", "mine"]);
            write(at, "src/b.rs", "B");
            git(at, &["commit", "-qam", "mine"]);
        },
        &["src/b.rs"],
    ),
    (
        "takes a commit back",
        |at| {
            write(at, "src/b.rs", "B");
            git(at, &["commit", "-qam", "mine"]);
            git(at, &["reset", "-q", "--hard", "HEAD~1"]);
        },
        &[],
    ),
    (
        "begins a history of its own",
        |at| {
            git(at, &["checkout", "-q", "--orphan", "other"]);
            write(at, "src/b.rs", "B");
            git(at, &["add", "-A"]);
            git(at, &["commit", "-qm", "mine"]);
        },
        &["src/b.rs"],
    ),
    (
        "leaves a merge in the middle",
        |at| {
            git(at, &["checkout", "-qb", "one"]);
            write(at, "src/b.rs", "one");
            git(at, &["commit", "-qam", "one"]);
            git(at, &["checkout", "-qb", "two", "HEAD~1"]);
            write(at, "src/b.rs", "two");
            git(at, &["commit", "-qam", "two"]);
            assert!(try_git(at, &["merge", "one"]).is_err());
        },
        &["src/b.rs"],
    ),
    (
        "hides a change from git",
        |at| {
            git(at, &["update-index", "--assume-unchanged", "src/b.rs"]);
            git(at, &["update-index", "--skip-worktree", "docs/c.md"]);
            write(at, "src/b.rs", "B");
            write(at, "docs/c.md", "C");
        },
        &["docs/c.md", "src/b.rs"],
    ),
    (
        "breaks its index",
        |at| {
            let index = git(at, &["rev-parse", "--path-format=absolute", "--git-path", "index"]);
            std::fs::write(index, "broken").unwrap();
            write(at, "src/b.rs", "B");
        },
        &["src/b.rs"],
    ),
    (
        "breaks its .git",
        |at| {
            std::fs::write(at.join(".git"), "broken").unwrap();
            write(at, "src/b.rs", "B");
        },
        &["src/b.rs"],
    ),
    (
        "removes its .git",
        |at| {
            std::fs::remove_file(at.join(".git")).unwrap();
            write(at, "src/b.rs", "B");
        },
        &["src/b.rs"],
    ),
    (
        "puts a folder for a file",
        |at| {
            std::fs::remove_file(at.join("src/b.rs")).unwrap();
            write(at, "src/b.rs/inner", "i");
        },
        &["src/b.rs", "src/b.rs/inner"],
    ),
    (
        "puts a file for a folder",
        |at| {
            std::fs::remove_dir_all(at.join("docs")).unwrap();
            write(at, "docs", "one");
        },
        &["docs", "docs/c.md", "docs/deep/d.md"],
    ),
    (
        "puts a link for a folder",
        |at| {
            std::fs::rename(at.join("docs"), at.join("moved")).unwrap();
            symlink("moved", at.join("docs")).unwrap();
        },
        &["docs", "docs/c.md", "docs/deep/d.md", "moved/c.md", "moved/deep/d.md"],
    ),
    ("renames", |at| std::fs::rename(at.join("src/b.rs"), at.join("src/z.rs")).unwrap(), &["src/b.rs", "src/z.rs"]),
    (
        "writes to our own folder",
        |at| {
            write(at, ".countersign/ledger", "x");
            write(at, "sub/.countersign/y", "y");
        },
        &["sub/.countersign/y"],
    ),
    (
        "stops ignoring",
        |at| {
            write(at, ".gitignore", "");
            write(at, "x.log", "x");
        },
        &[".gitignore", "x.log"],
    ),
];

#[test]
fn what_is_claimed_is_the_content_of_the_tree_whatever_was_done_to_git() {
    for (what, work, expected) in WORKS {
        let it = Repository::new();
        let (trees, tree) = make(&it);
        work(&tree.folder);
        let claimed =
            trees.commit_all(&tree, "Work\n\nMore.", &trailers("T-1")).unwrap_or_else(|said| panic!("{what}: {said}"));
        assert_eq!(claimed.changed, *expected, "{what}");
        assert_eq!(claimed.left_out, Vec::<String>::new(), "{what}");
        if expected.is_empty() {
            assert_eq!(claimed.commit, tree.base, "{what}");
            continue;
        }
        assert_eq!(it.git(&["rev-parse", &format!("{}^", claimed.commit)]), tree.base, "{what}");
        assert_eq!(it.git(&["rev-parse", &format!("{}^{{tree}}", claimed.commit)]), claimed.tree_hash, "{what}");
        for (name, text) in files(&it, &claimed.commit) {
            if tree.folder.join(&name).is_symlink() {
                continue;
            }
            assert_eq!(read(&tree.folder, &name).map(|text| text.trim_end().to_owned()), Some(text), "{what}: {name}");
        }
        // The same again, because nothing of it was used up.
        let again = trees.commit_all(&tree, "Work\n\nMore.", &trailers("T-1")).unwrap();
        assert_eq!((again.tree_hash, again.changed), (claimed.tree_hash, claimed.changed), "{what}");
    }
}

/// What is there that a claim leaves out, beside something that it takes.
const LEFT_OUT: &[Work] = &[
    ("keeps notes of ours", |at| write(at, ".countersign/x", "x"), &[]),
    (
        "makes a repository",
        |at| {
            write(at, "src/new.rs", "n");
            write(at, "inner/a", "a");
            git(&at.join("inner"), &["init", "-q"]);
        },
        &["src/new.rs"],
    ),
    (
        "makes a repository with a commit",
        |at| {
            write(at, "src/new.rs", "n");
            write(at, "inner/a", "a");
            git(&at.join("inner"), &["init", "-q"]);
            git(&at.join("inner"), &["add", "-A"]);
            git(&at.join("inner"), &["commit", "-qm", "inner"]);
        },
        &["src/new.rs"],
    ),
];

#[test]
fn a_claim_is_the_same_whether_git_takes_all_at_once_or_what_it_listed() {
    for (what, work, expected) in WORKS.iter().chain(LEFT_OUT) {
        let [at_once, listed] = [false, true].map(|is_listed| {
            let it = Repository::new();
            if is_listed {
                // Git changes names where it is told that the case of letters may not count, so that it is asked more closely.
                it.git(&["config", "core.ignorecase", "false"]);
            }
            let (claimed, _) = it.claim("T-1", |tree| work(&tree.folder));
            (claimed.tree_hash, claimed.changed, claimed.left_out)
        });
        assert_eq!(at_once, listed, "{what}");
        assert_eq!(at_once.1, *expected, "{what}");
    }
}

#[test]
fn nothing_that_an_agent_names_in_a_submodule_is_run_by_a_claim() {
    let (it, other) = (Repository::new(), Repository::new());
    it.git(&["submodule", "--quiet", "add", other.top().to_str().unwrap(), "module"]);
    it.commit("with a submodule");
    let (trees, tree) = make(&it);
    let (module, ran) = (tree.folder.join("module"), it.place().join("ran"));
    git(&tree.folder, &["submodule", "--quiet", "update", "--init", "module"]);
    git(&module, &["config", "filter.e.clean", &format!("touch '{}'; cat", ran.display())]);
    let attributes = git(&module, &["rev-parse", "--path-format=absolute", "--git-path", "info/attributes"]);
    std::fs::create_dir_all(Path::new(&attributes).parent().unwrap()).unwrap();
    std::fs::write(&attributes, "* filter=e\n").unwrap();
    write(&module, "src/b.rs", "B\n");
    write(&tree.folder, "src/b.rs", "B");
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!(claimed.changed, ["src/b.rs"]);
    assert!(!ran.exists());
    // It would be, were git asked there.
    git(&module, &["add", "--all"]);
    assert!(ran.exists());
}

/// An agent has a repository in its tree, by whose settings a program of its own is run, and writes into every index that it
/// finds that git would have to look into it: by a mode that only git takes for that of a repository.
#[test]
fn nothing_that_an_agent_writes_into_an_index_has_git_look_elsewhere() {
    let it = Repository::new();
    let (trees, tree) = make(&it);
    let (inner, ran) = (tree.folder.join("inner"), it.place().join("ran"));
    std::fs::create_dir_all(&inner).unwrap();
    git(&inner, &["init", "-q"]);
    write(&inner, "f", "f\n");
    git(&inner, &["add", "f"]);
    git(&inner, &["commit", "-qm", "inner"]);
    write(&inner, ".git/info/attributes", "* filter=e\n");
    git(&inner, &["config", "filter.e.clean", &format!("touch '{}'; cat", ran.display())]);
    write(&inner, "f", "F\n");
    let commit = git(&inner, &["rev-parse", "HEAD"]);
    git(&tree.folder, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},inner")]);
    let beside = it.top().join(".git/worktrees/T-1.1");
    let mut forged = std::fs::read(beside.join("index")).unwrap();
    let mode = memchr::memmem::find(&forged, &0o160_000_u32.to_be_bytes()).unwrap();
    forged[mode..mode + 4].copy_from_slice(&0o160_644_u32.to_be_bytes());
    for name in std::fs::read_dir(&beside).unwrap().map(|found| found.unwrap().file_name()) {
        if name.to_str().unwrap().contains("index") {
            std::fs::write(beside.join(name), &forged).unwrap();
        }
    }
    write(&tree.folder, "src/b.rs", "B");
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!((claimed.changed, claimed.left_out), (vec!["src/b.rs".to_owned()], vec!["inner".to_owned()]));
    assert!(!ran.exists());
    // It would be, were git asked by that index.
    git(&tree.folder, &["add", "--all"]);
    assert!(ran.exists());
}

#[test]
fn whatever_lies_where_a_claim_is_made_leads_nobody_anywhere() {
    let works: [fn(&Path, &Path); 3] = [
        |place, people| symlink(people, place).unwrap(),
        |place, _| std::fs::create_dir_all(place.join("folder")).unwrap(),
        |place, people| std::fs::hard_link(people, place).unwrap(),
    ];
    for work in works {
        let it = Repository::new();
        let (trees, tree) = make(&it);
        write(&tree.folder, "src/b.rs", "B");
        let (place, people) = (it.top().join(".git/worktrees/T-1.1/countersign-claim"), it.top().join(".git/index"));
        let before = std::fs::read(&people).unwrap();
        work(&place, &people);
        let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
        assert_eq!(claimed.changed, ["src/b.rs"]);
        assert_eq!(std::fs::read(&people).unwrap(), before);
    }
}

#[test]
fn what_lies_outside_of_a_part_that_is_looked_at_is_claimed_and_a_lock_is_no_hindrance() {
    let it = Repository::new();
    let (trees, tree) = make(&it);
    it.git(&["config", "core.sparseCheckout", "true"]);
    it.git(&["config", "core.sparseCheckoutCone", "false"]);
    write(&it.top(), ".git/info/sparse-checkout", "/src/\n");
    write(&it.top(), ".git/worktrees/T-1.1/info/sparse-checkout", "/src/\n");
    write(&it.top(), ".git/worktrees/T-1.1/countersign-claim.lock", "");
    write(&tree.folder, "docs/c.md", "C");
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!(claimed.changed, ["docs/c.md"]);
}

#[test]
fn a_change_right_after_the_tree_was_made_is_seen() {
    let it = Repository::new();
    for attempt in 0..20 {
        let (trees, name) = (it.trees(), format!("run1/T-1.{attempt}"));
        let tree = trees.make(&name, &it.head()).unwrap();
        // The same size and nearly the same time.
        write(&tree.folder, "src/b.rs", "B\n");
        let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
        assert_eq!(claimed.changed, ["src/b.rs"]);
    }
}

#[test]
fn a_tree_that_is_gone_cannot_be_claimed() {
    let it = Repository::new();
    let (trees, tree) = make(&it);
    std::fs::remove_dir_all(&tree.top).unwrap();
    assert!(trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap_err().contains("is gone"));
}

#[test]
fn repositories_inside_and_submodules_are_left_alone() {
    let it = Repository::new();
    let other = Repository::new();
    it.git(&["submodule", "--quiet", "add", other.top().to_str().unwrap(), "module"]);
    it.commit("with a submodule");
    let (trees, tree) = make(&it);
    std::fs::create_dir_all(tree.folder.join("empty")).unwrap();
    git(&tree.folder.join("empty"), &["init", "-q"]);
    git(&tree.folder, &["clone", "-q", other.top().to_str().unwrap(), "cloned"]);
    // A submodule that is somewhere else than it should be.
    git(&tree.folder, &["submodule", "--quiet", "update", "--init", "module"]);
    write(&tree.folder.join("module"), "src/b.rs", "moved");
    git(&tree.folder.join("module"), &["commit", "-qam", "moved"]);
    write(&tree.folder, "src/b.rs", "B");
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!(claimed.changed, ["src/b.rs"]);
    assert_eq!(claimed.left_out, ["cloned", "empty", "module"]);
}

#[test]
fn a_project_below_the_top_has_its_own_names_and_nothing_outside_of_it_is_claimed() {
    let it = Repository::with_prefix("pro ject/sub");
    let (trees, tree) = make(&it);
    assert_eq!(tree.folder, tree.top.join("pro ject/sub"));
    write(&tree.folder, "src/b.rs", "B");
    write(&tree.folder, ".countersign/x", "x");
    write(&tree.top, "outside.txt", "o");
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!((claimed.changed, claimed.left_out), (vec!["src/b.rs".to_owned()], vec!["outside.txt".to_owned()]));
    assert!(it.git(&["ls-tree", "-r", "--name-only", &claimed.commit]).lines().all(|name| name != "outside.txt"));
}

#[test]
fn modes_links_and_odd_names_are_kept() {
    let it = Repository::new();
    let (trees, tree) = make(&it);
    let at = &tree.folder;
    std::fs::set_permissions(at.join("src/b.rs"), std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink("../outside", at.join("link")).unwrap();
    symlink("src", at.join("to-folder")).unwrap();
    for name in [b"a\nb".as_slice(), b"\xff\xfe", b"-rf", b":(top)x", b"q\"uo'te", b"sp ace ", b"*.rs"] {
        std::fs::write(at.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    assert_eq!(claimed.changed.len(), 10);
    for name in ["%FF%FE", "a%0Ab", "link", "to-folder", "src/b.rs", "sp%20ace%20"] {
        assert!(claimed.changed.iter().any(|it| it == name), "{name}: {:?}", claimed.changed);
    }
    let listed = it.git(&["ls-tree", "-r", &claimed.commit]);
    assert!(listed.lines().any(|line| line.starts_with("120000") && line.ends_with("\tlink")));
    assert!(listed.lines().any(|line| line.starts_with("100755") && line.ends_with("\tsrc/b.rs")));
}

#[test]
fn a_message_and_its_trailers_are_in_the_commit() {
    let it = Repository::new();
    let trees =
        Trees::new(&it.root(), Some(&it.place()), Some(Identity { name: "A".into(), email: "a@b.c".into() })).unwrap();
    let tree = trees.make("run1/T-1.1", &it.head()).unwrap();
    write(&tree.folder, "n", "n");
    let claimed = trees.commit_all(&tree, "Round\n\nCountersign-Task: T-9", &trailers("T-1")).unwrap();
    let said =
        it.git(&["log", "-1", "--format=%an %ae|%s|%(trailers:key=Countersign-Task,valueonly)", &claimed.commit]);
    assert_eq!(said, "A a@b.c|Round|T-1");
    assert!(trees.commit_all(&tree, "m", &[("Countersign-Task".into(), "a\nb".into())]).is_err());
}
