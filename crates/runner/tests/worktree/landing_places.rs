//! Where things land: on no branch, in a second working tree, below the top, beside submodules, through filters.

use crate::support::{Repository, STEPS, git, land_at, landed, much, read, times, trailers, try_git, write};
use countersign_runner::landing::{Landing, Step};
use countersign_runner::worktree::Trees;

#[test]
fn a_head_on_no_branch_moves_alone() {
    let it = Repository::new();
    it.git(&["checkout", "-q", "--detach"]);
    let claimed = it.claim("T-1", much);
    let main = it.git(&["rev-parse", "main"]);
    landed(&it.land("T-1", &claimed));
    assert_eq!((it.git(&["rev-parse", "main"]), it.status().as_str()), (main, ""));
    assert!(try_git(&it.top(), &["symbolic-ref", "-q", "HEAD"]).is_err());
}

#[test]
fn a_working_tree_of_the_user_beside_the_first_one_is_landed_in() {
    let it = Repository::new();
    let linked = it.beside("linked");
    it.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let (claimed, base) = it.claim("T-1", much);
    for step in STEPS {
        land_at(&linked, "T-1", &claimed.commit, &base, Some(*step));
    }
    let landing = land_at(&linked, "T-1", &claimed.commit, &base, None);
    assert_eq!(landing, Landing::Already { commit: git(&linked, &["rev-parse", "side"]) });
    assert_eq!((git(&linked, &["status", "--porcelain"]), it.head()), (String::new(), base));
    assert_eq!(it.status(), "");
}

#[test]
fn a_project_below_the_top_lands_with_its_own_names() {
    let it = Repository::with_prefix("pro ject/sub");
    let claimed = it.claim("T-1", much);
    it.write("src/a.rs", "mine");
    assert_eq!(it.land("T-1", &claimed), Landing::Dirty { paths: vec!["src/a.rs".into()] });
    it.commit("mine");
    let Landing::Conflict { paths, .. } = it.land("T-1", &claimed) else { panic!() };
    assert_eq!(paths, ["src/a.rs"]);
    it.git(&["reset", "-q", "--hard", "HEAD~1"]);
    it.land_until("T-1", &claimed, Some(Step::Move));
    landed(&it.land("T-1", &claimed));
    assert_eq!((it.status().as_str(), it.read("src/new/deep.rs").as_deref()), ("", Some("new\n")));
}

#[test]
fn submodules_stay_where_they_are() {
    let (it, other) = (Repository::new(), Repository::new());
    it.git(&["submodule", "--quiet", "add", other.top().to_str().unwrap(), "module"]);
    it.commit("with a submodule");
    let claimed = it.claim("T-1", much);
    write(&it.top().join("module"), "src/b.rs", "moved");
    git(&it.top().join("module"), &["commit", "-qam", "moved"]);
    for step in [Some(Step::Move), None] {
        it.land_until("T-1", &claimed, step);
    }
    assert_eq!((it.status().as_str(), times(&it, "T-1")), (" M module", 1));
    assert_eq!(read(&it.top().join("module"), "src/b.rs").as_deref(), Some("moved"));
}

#[test]
fn line_ends_and_filters_are_those_of_the_working_tree() {
    for step in [None, Some(Step::Update), Some(Step::Move)] {
        let it = Repository::empty("");
        it.git(&["config", "filter.upper.clean", "tr A-Z a-z"]);
        it.git(&["config", "filter.upper.smudge", "tr a-z A-Z"]);
        it.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=upper\n");
        it.write("lines.txt", "one\r\ntwo\r\n");
        it.write("loud.up", "LOUD\n");
        it.commit("first");
        assert_eq!(it.status(), "");
        let claimed = it.claim("T-1", |tree| {
            assert_eq!(read(&tree.folder, "lines.txt").as_deref(), Some("one\r\ntwo\r\n"));
            write(&tree.folder, "lines.txt", "one\r\nthree\r\n");
            write(&tree.folder, "loud.up", "LOUDER\n");
            write(&tree.folder, "new.up", "NEW\n");
        });
        assert_eq!(it.git(&["show", &format!("{}:loud.up", claimed.0.commit)]), "louder");
        it.land_until("T-1", &claimed, step);
        if step.is_some() {
            landed(&it.land("T-1", &claimed));
        }
        assert_eq!(it.read("lines.txt").as_deref(), Some("one\r\nthree\r\n"));
        assert_eq!((it.read("loud.up").as_deref(), it.read("new.up").as_deref()), (Some("LOUDER\n"), Some("NEW\n")));
        assert_eq!(it.status(), "");
    }
}

#[test]
fn names_of_objects_may_be_long() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("main");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q", "--object-format=sha256", "--initial-branch=main"]);
    write(&root, "a", "a");
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-qm", "first"]);
    let base = git(&root, &["rev-parse", "HEAD"]);
    let trees = Trees::new(&root, Some(&folder.path().join("trees")), None).unwrap();
    let tree = trees.make("run1/T-1.1", &base).unwrap();
    write(&tree.folder, "b", "b");
    std::fs::remove_file(tree.folder.join("a")).unwrap();
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    land_at(&root, "T-1", &claimed.commit, &base, Some(Step::Move));
    landed(&land_at(&root, "T-1", &claimed.commit, &base, None));
    assert_eq!((git(&root, &["status", "--porcelain"]), base.len()), (String::new(), 64));
}
