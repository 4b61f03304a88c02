//! Landing with a real git, also when it is cut short.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
#![cfg(unix)]

mod worktree_support;

use countersign_runner::landing::{Claim, Landing, Step, land, land_by_steps};
use countersign_runner::worktree::{Claimed, Identity, Worktree};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use worktree_support::{Repository, git, land_at, read, trailers, try_git, write};

const STEPS: &[Step] = &[Step::Merge, Step::Commit, Step::Update, Step::Move, Step::Done];

fn landed(landing: &Landing) -> &str {
    match landing {
        Landing::Landed { commit, .. } => commit,
        other => panic!("{other:?}"),
    }
}

fn failed(landing: &Landing) -> &str {
    match landing {
        Landing::Failed(said) => said,
        other => panic!("{other:?}"),
    }
}

/// How many commits have the trailers of a task.
fn times(it: &Repository, task: &str) -> usize {
    let all = it.git(&["log", "--format=%(trailers:key=Countersign-Task,valueonly,separator=%x20)", "HEAD"]);
    all.lines().filter(|line| line.trim() == task).count()
}

/// Everything that a landing may not disturb: HEAD, what is staged, and what git says of every file.
fn everything(it: &Repository) -> (String, String, String) {
    let diff = it.git(&["diff", "HEAD", "--binary"]);
    (it.head(), it.git(&["ls-files", "--stage"]), format!("{}{diff}", it.status()))
}

/// Work that changes, adds, removes and renames, and changes what a name stands for.
fn much(tree: &Worktree) {
    let at = &tree.folder;
    write(at, "src/a.rs", "a1\na2\na3\na4\nA5\n");
    write(at, "src/new/deep.rs", "new\n");
    std::fs::remove_dir_all(at.join("docs/deep")).unwrap();
    std::fs::rename(at.join("docs/c.md"), at.join("docs/renamed.md")).unwrap();
    std::fs::remove_file(at.join("src/b.rs")).unwrap();
    write(at, "src/b.rs/now a folder", "x");
    symlink("a.rs", at.join("src/link")).unwrap();
    std::fs::write(at.join(std::ffi::OsStr::from_bytes(b"odd \xff\n*")), "odd").unwrap();
    write(at, "run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(at.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the user has in the working tree beside: staged, not staged, untracked, ignored.
fn users_work(it: &Repository) {
    it.write("user/staged.txt", "staged\n");
    it.git(&["add", "--all"]);
    it.write("user/staged.txt", "staged, and more\n");
    it.write(".gitignore", "target/\n*.log\n# mine\n");
    it.write("user/untracked.txt", "untracked\n");
    it.write("x.log", "ignored\n");
}

const USERS: &str = " M .gitignore\nAM user/staged.txt\n?? user/untracked.txt";

#[test]
fn a_landed_commit_is_on_top_of_head_and_what_the_user_has_elsewhere_stays() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    users_work(&it);
    let was = it.head();
    let landing = it.land("T-1", &claimed);
    assert_eq!(landing, Landing::Landed { commit: it.head(), was: was.clone() });
    assert_eq!(it.git(&["rev-parse", "HEAD^", "HEAD^{tree}"]), format!("{was}\n{}", claimed.0.tree_hash));
    assert_eq!(it.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(it.status(), USERS);
    assert_eq!(it.read("x.log").as_deref(), Some("ignored\n"));
    let said = it.git(&["log", "-1", "--format=%an <%ae>|%B"]);
    let expected = "Countersign <countersign@localhost>|Round half to even\n\nCountersign-Run: run1\nCountersign-Task: T-1\nCountersign-Lease: 7";
    assert_eq!(said.trim_end(), expected);
}

#[test]
fn what_others_did_in_the_meantime_is_merged() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    it.write("src/a.rs", "A1\na2\na3\na4\na5\n");
    it.write("other.txt", "o");
    let was = it.commit("meanwhile");
    assert_eq!(it.land("T-1", &claimed), Landing::Landed { commit: it.head(), was });
    assert_eq!(it.read("src/a.rs").as_deref(), Some("A1\na2\na3\na4\nA5\n"));
    assert_eq!((it.status().as_str(), it.read("other.txt").as_deref()), ("", Some("o")));
}

#[test]
fn what_others_did_in_the_same_places_is_a_conflict_and_nothing_changes() {
    let it = Repository::new();
    let mine = it.claim("T-1", |tree| write(&tree.folder, "src/a.rs", "mine\n"));
    let other = it.claim("T-2", |tree| write(&tree.folder, "src/a.rs", "other\n"));
    let touched = landed(&it.land("T-2", &other)).to_owned();
    it.write("docs/c.md", "beside");
    it.commit("beside");
    users_work(&it);
    let before = everything(&it);
    let Landing::Conflict { paths, ours, theirs } = it.land("T-1", &mine) else { panic!() };
    assert_eq!((paths, theirs), (vec!["src/a.rs".to_owned()], mine.0.commit));
    let [touch] = ours.as_slice() else { panic!("{ours:?}") };
    assert_eq!((touch.commit.as_str(), touch.author.as_str()), (touched.as_str(), "Countersign"));
    assert_eq!((touch.subject.as_str(), touch.task.as_deref()), ("Round half to even", Some("T-2")));
    assert_eq!(everything(&it), before);
}

#[test]
fn what_has_landed_does_not_land_again() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    let first = landed(&it.land("T-1", &claimed)).to_owned();
    assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: first.clone() });
    it.write("src/a.rs", "changed since");
    it.commit("later");
    assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: first });
    // Taken back by the user: that was a decision.
    it.git(&["revert", "--no-edit", "HEAD~1..HEAD"]);
    assert!(matches!(it.land("T-1", &claimed), Landing::Already { .. }));
    // Under another name it is another landing.
    let same = it.claim("T-3", |tree| write(&tree.folder, "src/z.rs", "z"));
    landed(&it.land("T-3", &same));
    let head = it.head();
    assert_eq!(it.land("T-4", &same), Landing::Already { commit: head }, "the content is already there");
    let nothing = it.claim("T-5", |_| {});
    assert_eq!(it.land("T-5", &nothing), Landing::Already { commit: it.head() });
    assert_eq!((times(&it, "T-1"), times(&it, "T-3"), times(&it, "T-4")), (1, 1, 0));
}

#[test]
fn a_history_that_was_written_anew_still_tells_what_landed() {
    let it = Repository::new();
    let claimed = it.claim("T-1", |tree| write(&tree.folder, "src/b.rs", "B\n"));
    it.land("T-1", &claimed);
    it.git(&["commit", "-q", "--amend", "-m", &it.git(&["log", "-1", "--format=%B"]).replace("Round", "round")]);
    assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: it.head() });
    // The base itself is gone from the branch: the work alone lands, without what the base brought.
    it.write("unrelated.txt", "u");
    it.commit("to be dropped");
    let claimed = it.claim("T-2", |tree| write(&tree.folder, "docs/c.md", "C\n"));
    it.git(&["reset", "-q", "--hard", "HEAD~1"]);
    landed(&it.land("T-2", &claimed));
    assert_eq!((it.read("docs/c.md").as_deref(), it.read("unrelated.txt")), (Some("C\n"), None));
}

/// What the user has done to what the landing changes, and the files that are then reported.
type Obstacle = (&'static str, fn(&Repository), &'static [&'static str]);

const OBSTACLES: &[Obstacle] = &[
    ("changed", |it| it.write("src/a.rs", "mine"), &["src/a.rs"]),
    (
        "staged",
        |it| {
            it.write("src/a.rs", "mine");
            it.git(&["add", "src/a.rs"]);
        },
        &["src/a.rs"],
    ),
    (
        "staged, and changed back",
        |it| {
            let old = it.read("src/a.rs").unwrap();
            it.write("src/a.rs", "mine");
            it.git(&["add", "src/a.rs"]);
            it.write("src/a.rs", &old);
        },
        &["src/a.rs"],
    ),
    ("removed", |it| std::fs::remove_file(it.root().join("src/a.rs")).unwrap(), &["src/a.rs"]),
    (
        "removed for git only",
        |it| {
            it.git(&["rm", "-q", "--cached", "src/a.rs"]);
        },
        &["src/a.rs"],
    ),
    ("changed what goes", |it| it.write("docs/deep/d.md", "mine"), &["docs/deep/d.md"]),
    ("a file where one comes", |it| it.write("src/new/deep.rs", "mine"), &["src/new/deep.rs"]),
    (
        "a staged file where one comes",
        |it| {
            it.write("src/new/deep.rs", "mine");
            it.git(&["add", "src/new/deep.rs"]);
        },
        &["src/new/deep.rs"],
    ),
    (
        "an ignored file where one comes",
        |it| {
            write(&it.top(), ".git/info/exclude", "run.sh\n");
            it.write("run.sh", "mine");
        },
        &["run.sh"],
    ),
    ("a file where a folder comes", |it| it.write("src/new", "mine"), &["src/new/deep.rs"]),
    ("a folder where a file comes", |it| it.write("run.sh/mine", "mine"), &["run.sh"]),
    (
        "a link where a folder comes",
        |it| {
            write(&it.beside("elsewhere"), "deep.rs", "precious");
            symlink(it.beside("elsewhere"), it.root().join("src/new")).unwrap();
        },
        &["src/new/deep.rs"],
    ),
    (
        "a mode",
        |it| {
            std::fs::set_permissions(it.root().join("src/a.rs"), std::fs::Permissions::from_mode(0o755)).unwrap();
        },
        &["src/a.rs"],
    ),
    (
        "a link for a file",
        |it| {
            std::fs::remove_file(it.root().join("src/a.rs")).unwrap();
            symlink("b.rs", it.root().join("src/a.rs")).unwrap();
        },
        &["src/a.rs"],
    ),
];

#[test]
fn what_is_not_committed_in_the_same_files_stops_the_landing_and_nothing_changes() {
    for (what, obstacle, expected) in OBSTACLES {
        let it = Repository::new();
        let claimed = it.claim("T-1", much);
        obstacle(&it);
        users_work_untouched(&it, |it| {
            let landing = it.land("T-1", &claimed);
            let paths = expected.iter().map(|name| (*name).to_owned()).collect();
            assert_eq!(landing, Landing::Dirty { paths }, "{what}");
        });
        assert!(read(&it.beside("elsewhere"), "deep.rs").is_none_or(|text| text == "precious"), "{what}");
    }
}

fn users_work_untouched(it: &Repository, act: impl FnOnce(&Repository)) {
    let before = everything(it);
    act(it);
    assert_eq!(everything(it), before);
}

#[test]
fn files_that_were_only_touched_are_in_nobodys_way() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    for name in ["src/a.rs", "src/b.rs", "docs/c.md"] {
        let text = it.read(name).unwrap();
        std::fs::remove_file(it.root().join(name)).unwrap();
        it.write(name, &text);
        let file = std::fs::File::options().write(true).open(it.root().join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(100)).unwrap();
    }
    std::fs::create_dir_all(it.root().join("run.sh/empty")).unwrap();
    landed(&it.land("T-1", &claimed));
    assert_eq!(it.status(), "");
}

#[test]
fn a_landing_that_is_cut_short_anywhere_is_completed_by_the_next_and_lands_once() {
    for meanwhile in [false, true] {
        for step in STEPS {
            let it = Repository::new();
            let claimed = it.claim("T-1", much);
            if meanwhile {
                it.write("other.txt", "o");
                it.commit("meanwhile");
            }
            users_work(&it);
            let was = it.head();
            let said = it.land_until("T-1", &claimed, Some(*step));
            assert!(failed(&said).contains("land again"), "{step:?}");
            if *step == Step::Done {
                assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: it.head() });
            } else {
                assert_eq!(it.head(), was, "{step:?}");
                assert_eq!(it.land("T-1", &claimed), Landing::Landed { commit: it.head(), was }, "{step:?}");
            }
            assert_eq!(it.status(), USERS, "{step:?}");
            assert_eq!(times(&it, "T-1"), 1, "{step:?}");
            assert_eq!(it.git(&["fsck", "--no-dangling", "--no-progress"]), "");
        }
    }
}

/// Makes some of the files what the landing would make them, as git does when it is killed in the middle.
fn part_of(it: &Repository, claimed: &Claimed, which: impl Fn(usize) -> bool) {
    let changes = it.git(&["diff-tree", "-r", "-z", "--name-status", "--no-renames", "HEAD", &claimed.commit]);
    let fields: Vec<&str> = changes.split('\0').collect();
    for (number, pair) in fields.chunks_exact(2).enumerate().filter(|(number, _)| which(*number)) {
        let [kind, name] = pair else { unreachable!("in pairs") };
        // Names that are no text were replaced on the way here.
        if name.contains('\u{fffd}') {
            continue;
        }
        let path = it.root().join(name);
        if *kind == "D" {
            std::fs::remove_file(&path).unwrap_or_else(|error| panic!("{number} {name}: {error}"));
            let _ = std::fs::remove_dir(path.parent().unwrap());
            continue;
        }
        let index = it.beside("index");
        let script = format!(
            "export GIT_INDEX_FILE='{}'; git read-tree {} && git checkout-index -f -- \"$1\"",
            index.display(),
            claimed.commit
        );
        git(&it.top(), &["-c", &format!("alias.part=!sh -c '{}' -", script.replace('\'', "'\\''")), "part", name]);
        std::fs::remove_file(index).unwrap();
    }
}

#[test]
fn a_landing_in_which_only_some_files_were_written_is_completed() {
    for mask in [0b1, 0b10, 0b1100, 0b0101_0101, 0b1010_1010, 0b1111_0000, 0b1111_1111_1111] {
        let it = Repository::new();
        let claimed = it.claim("T-1", |tree| {
            let at = &tree.folder;
            write(at, "src/a.rs", "a\n");
            write(at, "src/new/deep.rs", "new\n");
            write(at, "run.sh", "#!/bin/sh\n");
            std::fs::set_permissions(at.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
            std::fs::remove_file(at.join("docs/c.md")).unwrap();
            std::fs::remove_dir_all(at.join("docs/deep")).unwrap();
            symlink("a.rs", at.join("src/link")).unwrap();
            write(at, "a name\nwith a line's end", "x");
        });
        users_work(&it);
        part_of(&it, &claimed.0, |number| mask >> number & 1 == 1);
        landed(&it.land("T-1", &claimed));
        assert_eq!((it.status().as_str(), times(&it, "T-1")), (USERS, 1), "{mask:b}");
    }
}

#[test]
fn a_landing_in_which_only_the_index_was_written_is_completed() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    it.git(&["read-tree", &claimed.0.commit]);
    landed(&it.land("T-1", &claimed));
    assert_eq!(it.status(), "");
}

#[test]
fn what_a_user_did_after_a_landing_was_cut_short_is_not_lost() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    it.land_until("T-1", &claimed, Some(Step::Move));
    it.write("src/a.rs", "my own");
    users_work_untouched(&it, |it| {
        assert_eq!(it.land("T-1", &claimed), Landing::Dirty { paths: vec!["src/a.rs".into()] });
    });
    // The user gives up the landing instead: it can be landed anew.
    it.git(&["reset", "-q", "--hard"]);
    landed(&it.land("T-1", &claimed));
    assert_eq!((it.status().as_str(), times(&it, "T-1")), ("", 1));
}

#[test]
fn a_link_that_comes_for_a_folder_never_leads_a_removal_astray() {
    let it = Repository::new();
    write(&it.top(), "docs2/c.md", "precious\n");
    it.commit("a second folder");
    let claimed = it.claim("T-1", |tree| {
        std::fs::remove_dir_all(tree.folder.join("docs")).unwrap();
        symlink("docs2", tree.folder.join("docs")).unwrap();
    });
    // As if it had been cut short after the link was made.
    std::fs::remove_dir_all(it.root().join("docs")).unwrap();
    symlink("docs2", it.root().join("docs")).unwrap();
    landed(&it.land("T-1", &claimed));
    assert_eq!((it.read("docs2/c.md").as_deref(), it.status().as_str()), (Some("precious\n"), ""));
}

#[test]
fn head_that_moves_in_the_meantime_is_landed_upon() {
    type Meanwhile = (&'static str, fn(&Repository));
    let cases: &[Meanwhile] = &[
        ("one file", |it| {
            it.write("mine.txt", "m");
            it.git(&["add", "mine.txt"]);
            it.git(&["commit", "-qm", "m", "--", "mine.txt"]);
        }),
        ("nothing", |it| {
            it.git(&["commit", "-q", "--allow-empty", "-m", "m", "--only"]);
        }),
    ];
    for (what, meanwhile) in cases {
        let it = Repository::new();
        let (claimed, base) = it.claim("T-1", much);
        let (trailers, identity, root) = (trailers("T-1"), Identity::default(), it.root());
        let claim = Claim {
            root: &root,
            commit: &claimed.commit,
            base: &base,
            message: "m",
            trailers: &trailers,
            identity: &identity,
        };
        let mut moved = false;
        let landing = land_by_steps(&claim, &mut |step| {
            if step == Step::Move && !std::mem::replace(&mut moved, true) {
                meanwhile(&it);
            }
            ControlFlow::Continue(())
        });
        let was = it.git(&["rev-parse", "HEAD^"]);
        assert_eq!(landing, Landing::Landed { commit: it.head(), was }, "{what}");
        assert_eq!((it.status().as_str(), times(&it, "T-1")), ("", 1), "{what}");
    }
}

#[test]
fn a_user_who_commits_everything_in_the_meantime_has_landed_it() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    it.land_until("T-1", &claimed, Some(Step::Move));
    it.commit("all of it");
    assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: it.head() });
    assert_eq!(it.status(), "");
}

#[test]
fn what_is_under_way_in_the_working_tree_is_not_disturbed() {
    for (what, begin) in
        [("merge", ["merge", "other"]), ("cherry-pick", ["cherry-pick", "other"]), ("rebase", ["rebase", "other"])]
    {
        let it = Repository::new();
        it.git(&["branch", "other"]);
        it.write("src/b.rs", "here");
        it.commit("here");
        let claimed = it.claim("T-1", |tree| write(&tree.folder, "docs/c.md", "C"));
        it.git(&["checkout", "-q", "other"]);
        it.write("src/b.rs", "there");
        it.commit("there");
        it.git(&["checkout", "-q", "main"]);
        assert!(try_git(&it.top(), &begin).is_err(), "{what}");
        users_work_untouched(&it, |it| {
            let said = it.land("T-1", &claimed);
            assert!(failed(&said).contains(&format!("a {what} is under way")), "{said:?}");
        });
    }
}

#[test]
fn a_lock_of_git_is_said_and_not_removed() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    write(&it.top(), ".git/index.lock", "");
    let said = it.land("T-1", &claimed);
    assert!(failed(&said).contains("index.lock is there"), "{said:?}");
    std::fs::remove_file(it.top().join(".git/index.lock")).unwrap();
    landed(&it.land("T-1", &claimed));
    assert_eq!(it.status(), "");
}

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
fn before_the_first_commit_nothing_lands_and_it_says_what_to_do() {
    let (it, other) = (Repository::empty(""), Repository::new());
    let said = land_at(&it.root(), "T-1", &other.head(), &other.head(), None);
    assert!(failed(&said).contains("there is no commit yet") && failed(&said).contains("make a first one"), "{said:?}");
    let outside = tempfile::tempdir().unwrap();
    assert!(
        failed(&land_at(outside.path(), "T-1", &other.head(), &other.head(), None)).contains("not a git repository")
    );
    let unknown = "1".repeat(40);
    failed(&land_at(&other.root(), "T-1", &unknown, &other.head(), None));
    for name in ["HEAD", "--help", "main"] {
        assert!(failed(&land_at(&other.root(), "T-1", name, &other.head(), None)).contains("no full name"));
    }
    let (root, identity, head) = (other.root(), Identity::default(), other.head());
    let nameless = Claim { root: &root, commit: &head, base: &head, message: "m", trailers: &[], identity: &identity };
    assert!(failed(&land(&nameless)).contains("without trailers"));
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
    let trees = countersign_runner::worktree::Trees::new(&root, Some(&folder.path().join("trees")), None).unwrap();
    let tree = trees.make("run1/T-1.1", &base).unwrap();
    write(&tree.folder, "b", "b");
    std::fs::remove_file(tree.folder.join("a")).unwrap();
    let claimed = trees.commit_all(&tree, "Work", &trailers("T-1")).unwrap();
    land_at(&root, "T-1", &claimed.commit, &base, Some(Step::Move));
    landed(&land_at(&root, "T-1", &claimed.commit, &base, None));
    assert_eq!((git(&root, &["status", "--porcelain"]), base.len()), (String::new(), 64));
}

#[test]
fn landings_at_the_same_time_come_one_after_another() {
    let it = Repository::new();
    let work = |task: usize| move |tree: &Worktree| write(&tree.folder, &format!("by/{task}.txt"), "x");
    let claimed: Vec<_> = (0..6).map(|task| it.claim(&format!("T-{task}"), work(task))).collect();
    std::thread::scope(|scope| {
        for (task, claimed) in claimed.iter().enumerate() {
            let root = it.root();
            scope.spawn(move || {
                landed(&land_at(&root, &format!("T-{task}"), &claimed.0.commit, &claimed.1, None)).len()
            });
        }
    });
    assert_eq!(it.status(), "");
    for task in 0..6 {
        assert_eq!(times(&it, &format!("T-{task}")), 1);
        assert!(Path::new(&it.root()).join(format!("by/{task}.txt")).exists());
    }
}

#[test]
fn a_landing_of_very_many_files_is_looked_at_as_well() {
    let it = Repository::new();
    let claimed = it.claim("T-1", |tree| {
        (0..1_500).for_each(|number| write(&tree.folder, &format!("many/{}{number}.txt", "long".repeat(12)), "x"));
        write(&tree.folder, "src/a.rs", "A");
    });
    it.write("src/a.rs", "mine");
    assert_eq!(it.land("T-1", &claimed), Landing::Dirty { paths: vec!["src/a.rs".into()] });
    it.git(&["checkout", "-q", "src/a.rs"]);
    it.land_until("T-1", &claimed, Some(Step::Move));
    landed(&it.land("T-1", &claimed));
    assert_eq!(it.status(), "");
}
