//! Landings that were cut short somewhere, and are completed.

use crate::support::{
    Repository, STEPS, USERS, failed, git, landed, much, times, users_work, users_work_untouched, write,
};
use countersign_runner::landing::{Landing, Step};
use countersign_runner::worktree::Claimed;
use std::os::unix::fs::{PermissionsExt, symlink};

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
fn a_user_who_commits_everything_in_the_meantime_has_landed_it() {
    let it = Repository::new();
    let claimed = it.claim("T-1", much);
    it.land_until("T-1", &claimed, Some(Step::Move));
    it.commit("all of it");
    assert_eq!(it.land("T-1", &claimed), Landing::Already { commit: it.head() });
    assert_eq!(it.status(), "");
}
