//! Worktrees of a bare repository, which has no main one: the project is in the directory that holds it, or in one of them.

use super::*;
use std::path::{Path, PathBuf};

/// A bare repository in a directory, with worktrees beside it and one elsewhere.
struct Bare {
    shop: Shop,
    elsewhere: tempfile::TempDir,
}

impl Bare {
    fn new() -> Self {
        let bare = Self { shop: Shop::unmanaged(), elsewhere: tempfile::tempdir().unwrap() };
        bare.shop.git(&["clone", "--quiet", "--bare", ".", "all/.bare"]);
        for name in ["one", "two"] {
            bare.shop.git(&["-C", "all/.bare", "worktree", "add", "--quiet", "-b", name, &format!("../{name}")]);
        }
        let far = bare.far();
        bare.shop.git(&["-C", "all/.bare", "worktree", "add", "--quiet", "-b", "far", far.to_str().unwrap()]);
        bare
    }

    fn far(&self) -> PathBuf {
        self.elsewhere.path().canonicalize().unwrap().join("far")
    }

    fn tree(&self, name: &str) -> PathBuf {
        if name == "far" { self.far() } else { self.shop.root().join("all").join(name) }
    }

    fn run(&self, name: &str, arguments: &[&str]) -> house::Answer {
        self.shop.house.run_in(&self.tree(name), arguments, "", &[("COUNTERSIGN_ACTOR", CLAUDE)])
    }

    /// What a hook says to a write, to whoever works in a worktree.
    fn write(&self, name: &str, path: &str) -> Value {
        self.write_as(name, path, &[("COUNTERSIGN_ACTOR", CLAUDE)])
    }

    fn write_as(&self, name: &str, path: &str, variables: &[(&str, &str)]) -> Value {
        let tree = self.tree(name);
        let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": tree, "tool_name": "Write",
            "tool_input": { "file_path": tree.join(path), "content": "" } });
        let answer = self.shop.house.run_in(&tree, &["hook", "claude-code"], &event.to_string(), variables);
        assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{answer:?}");
        serde_json::from_str(&answer.out).unwrap()
    }

    /// Makes a project and opens a run with a task in it.
    fn open(&self, name: &str) {
        for arguments in [
            &["init", "--name", "shop"][..],
            &["run", "open", "--objective", "o"],
            &["task", "add", "T-1", "--title", "t", "--lock", "src/a", "--accept", "it holds"],
        ] {
            let answer = self.run(name, arguments);
            assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
        }
    }
}

#[test]
fn a_project_in_one_of_the_worktrees_is_that_of_all() {
    let bare = Bare::new();
    for name in ["one", "two", "far"] {
        assert_eq!(bare.write(name, "docs/c.md"), NOTHING(), "nothing is managed yet");
    }
    bare.open("one");
    let claimed = bare.run("far", &["task", "claim", "T-1"]);
    assert_eq!(claimed.code, 0, "{claimed:?}");
    for name in ["one", "two", "far"] {
        assert_eq!(bare.write(name, "src/a/one.rs"), NOTHING(), "{name}");
        assert!(denied(&bare.write(name, "docs/c.md")).unwrap().contains("`docs/c.md`"), "{name}");
    }
    let again = bare.run("two", &["init"]);
    assert!(again.code == 3 && again.err.contains("is a worktree of"), "{again:?}");
    // Settings that are in version control are everywhere, the ledger is not; nor is it where a folder was left.
    for folder in [bare.tree("two"), bare.shop.root().join("all")] {
        std::fs::create_dir(folder.join(".countersign")).unwrap();
        assert!(denied(&bare.write("two", "docs/c.md")).is_some(), "{}", folder.display());
    }
    assert_eq!(bare.run("one", &["task", "list"]).code, 0);
}

#[test]
fn a_ledger_that_settings_name_is_one_for_everybody() {
    let bare = Bare::new();
    let file = bare.elsewhere.path().join("shared.db");
    let made = bare.run("one", &["init", "--name", "shop", "--ledger", file.to_str().unwrap()]);
    assert_eq!((made.code, bare.run("one", &["run", "open", "--objective", "o"]).code), (0, 0), "{made:?}");
    // Whoever made it has noted that in their own settings; others have not.
    let home = tempfile::tempdir().unwrap();
    let home = [("COUNTERSIGN_ACTOR", CLAUDE), ("COUNTERSIGN_HOME", home.path().to_str().unwrap())];
    for name in ["one", "two"] {
        assert!(denied(&bare.write_as(name, "docs/c.md", &home)).is_some(), "{name}");
    }
}

#[test]
fn of_worktrees_in_one_another_the_inner_one_has_its_project() {
    let bare = Bare::new();
    bare.shop.git(&["-C", "all/.bare", "worktree", "add", "--quiet", "-b", "inner", "../one/.wt/inner"]);
    bare.open("one/.wt/inner");
    for name in ["one", "two", "far", "one/.wt/inner"] {
        assert!(denied(&bare.write(name, "docs/c.md")).unwrap().contains("`docs/c.md`"), "{name}");
    }
}

/// Carries a verb out in a folder, in the session's name.
#[track_caller]
fn done_in(shop: &Shop, folder: &Path, arguments: &[&str], stdin: &str) -> String {
    let answer = shop.house.run_in(folder, arguments, stdin, &[("COUNTERSIGN_ACTOR", CLAUDE)]);
    assert_eq!(answer.code, 0, "{arguments:?}: {answer:?}");
    answer.out
}

/// What a hook says to a write, to whoever works in a folder.
#[track_caller]
fn write_in(shop: &Shop, folder: &Path, file: &Path) -> Value {
    let event = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": folder, "tool_name": "Write",
        "tool_input": { "file_path": file, "content": "" } });
    serde_json::from_str(&done_in(shop, folder, &["hook", "claude-code"], &event.to_string())).unwrap()
}

/// A file of one repository is none of the other, though both are called alike there.
#[test]
fn several_bare_repositories_in_a_folder_have_names_of_their_own() {
    for (folder, named) in [("all", "web.git/src/a"), ("all/repos", "repos/web.git/src/a")] {
        let shop = Shop::unmanaged();
        let elsewhere = tempfile::tempdir().unwrap();
        let far = elsewhere.path().canonicalize().unwrap().join("far");
        for name in ["api", "web"] {
            let own = format!("{folder}/{name}.git");
            shop.git(&["clone", "--quiet", "--bare", ".", &own]);
            let tree = shop.root().join("all").join(name);
            shop.git(&["-C", &own, "worktree", "add", "--quiet", "-b", name, tree.to_str().unwrap()]);
        }
        shop.git(&[
            "-C",
            &format!("{folder}/web.git"),
            "worktree",
            "add",
            "--quiet",
            "-b",
            "far",
            far.to_str().unwrap(),
        ]);
        let all = shop.root().join("all");
        let run = |folder: &Path, arguments: &[&str]| done_in(&shop, folder, arguments, "");
        run(&all, &["init", "--name", "all"]);
        run(&all, &["run", "open", "--objective", "o"]);
        run(&all.join("api"), &["task", "add", "T-1", "--title", "t", "--lock", "src/a", "--accept", "it holds"]);
        run(&all, &["task", "claim", "T-1"]);
        let write = |tree: PathBuf| write_in(&shop, &tree, &tree.join("src/a/one.rs"));
        assert_eq!(write(all.join("api")), NOTHING(), "{folder}");
        assert!(denied(&write(all.join("web"))).unwrap().contains("`web/src/a/one.rs`"), "{folder}");
        assert!(denied(&write(far.clone())).unwrap().contains(named), "{folder}");
    }
}

#[test]
fn a_project_beside_the_repository_is_that_of_all_worktrees() {
    let bare = Bare::new();
    let root = bare.shop.root().join("all");
    assert_eq!(bare.shop.house.run_in(&root, &["init", "--name", "shop"], "", &[]).code, 0);
    assert_eq!(bare.run("far", &["run", "open", "--objective", "o"]).code, 0);
    let added = bare.run("two", &["task", "add", "T-1", "--title", "t", "--lock", "src/a", "--accept", "it holds"]);
    assert_eq!((added.code, bare.run("one", &["task", "claim", "T-1"]).code), (0, 0), "{added:?}");
    for name in ["one", "two", "far"] {
        assert_eq!(bare.write(name, "src/a/one.rs"), NOTHING(), "{name}");
        assert!(denied(&bare.write(name, "docs/c.md")).unwrap().contains("`docs/c.md`"), "{name}");
    }
}

#[test]
fn several_worktrees_with_a_project_each_are_a_refusal_elsewhere() {
    let bare = Bare::new();
    bare.open("one");
    // As if both had been made before either was known to the other.
    let hidden = bare.tree("one").join(".hidden");
    std::fs::rename(bare.tree("one").join(".countersign"), &hidden).unwrap();
    bare.open("two");
    std::fs::rename(&hidden, bare.tree("one").join(".countersign")).unwrap();
    let answer = bare.write("far", "docs/c.md");
    let reason = denied(&answer).unwrap();
    assert!(reason.contains("several worktrees") && reason.contains("COUNTERSIGN_PROJECT"), "{reason}");
    let verb = bare.run("far", &["task", "next"]);
    assert!(verb.code == 3 && verb.err.contains("several worktrees"), "{verb:?}");
    let one = bare.tree("one");
    let named = bare.run("far", &["--project", one.to_str().unwrap(), "task", "next"]);
    assert_eq!(named.code, 0, "{named:?}");
    // Whoever has one of their own uses it.
    assert!(denied(&bare.write("one", "docs/c.md")).unwrap().contains("`docs/c.md`"));
}

/// A project may have several repositories below it, each with worktrees anywhere.
#[test]
fn a_project_above_a_repository_is_that_of_its_worktrees_and_names_are_the_same() {
    let shop = Shop::unmanaged();
    shop.git(&["clone", "--quiet", ".", "all/repo"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let tree = elsewhere.path().canonicalize().unwrap().join("tree");
    shop.git(&["-C", "all/repo", "worktree", "add", "--quiet", "-b", "other", tree.to_str().unwrap()]);
    let all = shop.root().join("all");
    let run = |folder: &Path, arguments: &[&str]| done_in(&shop, folder, arguments, "");
    run(&all, &["init", "--name", "all"]);
    run(&tree, &["run", "open", "--objective", "o"]);
    run(&tree, &["task", "add", "T-1", "--title", "t", "--lock", "src/a", "--accept", "it holds"]);
    run(&tree, &["task", "claim", "T-1"]);
    let locks: Value = serde_json::from_str(&run(&all, &["lock", "mine", "--format", "json"])).unwrap();
    assert_eq!(locks["locks"][0]["path"], "repo/src/a", "{locks}");
    for folder in [&tree, &all.join("repo")] {
        let write = |path: &str| write_in(&shop, folder, &folder.join(path));
        assert_eq!(write("src/a/one.rs"), NOTHING(), "{}", folder.display());
        assert!(denied(&write("docs/c.md")).unwrap().contains("`repo/docs/c.md`"), "{}", folder.display());
    }
}

/// A submodule is a part of the worktree that it lies in, and a folder that a branch does not have yet is where it will be.
#[test]
fn what_lies_deeper_in_a_worktree_is_managed_as_in_the_main_one() {
    let shop = Shop::unmanaged();
    shop.git(&["clone", "--quiet", ".", "all"]);
    shop.git(&["clone", "--quiet", ".", "module"]);
    let module = shop.root().join("module");
    let always = ["-c", "protocol.file.allow=always"];
    shop.git(&[&always[..], &["-C", "all", "submodule", "--quiet", "add", module.to_str().unwrap(), "sub"]].concat());
    shop.git(&["-C", "all", "commit", "--quiet", "--message", "a module"]);
    shop.git(&["-C", "all", "worktree", "add", "--quiet", "-b", "other", "../tree"]);
    shop.git(&[&always[..], &["-C", "tree", "submodule", "--quiet", "update", "--init"]].concat());
    let (all, tree) = (shop.root().join("all"), shop.root().join("tree"));
    let run = |folder: &Path, arguments: &[&str]| done_in(&shop, folder, arguments, "");
    let write = |path: PathBuf| write_in(&shop, &tree, &path);
    run(&all, &["init", "--name", "all"]);
    run(&all, &["run", "open", "--objective", "o"]);
    assert!(denied(&write(tree.join("sub/src/a/one.rs"))).unwrap().contains("`sub/src/a/one.rs`"));
    // A project in a folder that only the main worktree has.
    std::fs::rename(all.join(".countersign"), all.join(".elsewhere")).unwrap();
    let inner = all.join("inner");
    std::fs::create_dir(&inner).unwrap();
    run(&inner, &["init", "--name", "inner"]);
    run(&inner, &["run", "open", "--objective", "o"]);
    assert!(denied(&write(tree.join("inner/new.rs"))).unwrap().contains("`new.rs`"));
}
