//! What is in the way of a landing, and what only looks so.

use crate::support::{
    Repository, failed, land_at, landed, much, read, try_git, users_work_untouched, with_whole_claim, write,
};
use countersign_runner::landing::{Claim, Landing, Step, land};
use countersign_runner::worktree::{Identity, Layout};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::Duration;

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
fn a_git_that_is_done_in_a_moment_is_waited_for() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    write(&it.top(), ".git/index.lock", "");
    let lock = it.top().join(".git/index.lock");
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        std::fs::remove_file(lock).unwrap();
    });
    let said =
        with_whole_claim(&it, &claimed, false, |claim| land(&Claim { patience: Duration::from_secs(60), ..*claim }));
    landed(&said);
    other.join().unwrap();
    assert_eq!(it.status(), "");
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
    let (place, identity, head) = (Layout::of(&other.root()).unwrap(), Identity::default(), other.head());
    let (commit, base) = (head.as_str(), head.as_str());
    let nameless = Claim {
        place: &place,
        commit,
        base,
        message: "m",
        trailers: &[],
        identity: &identity,
        is_whole: false,
        was_tried: true,
        patience: Duration::ZERO,
    };
    assert!(failed(&land(&nameless)).contains("without trailers"));
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
