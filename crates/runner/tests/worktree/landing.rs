//! What becomes of a landing: merged, in conflict, or there already.

use crate::support::{
    Repository, STEPS, USERS, everything, failed, land_at, landed, much, times, trailers, users_work, with_whole_claim,
    write,
};
use countersign_runner::landing::{Claim, Landing, Step, land, land_by_steps, land_prepared, prepare};
use countersign_runner::worktree::{Identity, Layout, Worktree};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

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
    for (number, (what, meanwhile)) in cases.iter().chain(cases).enumerate() {
        let it = Repository::new();
        let (claimed, base) = it.claim("T-1", much);
        let (trailers, identity, place) = (trailers("T-1"), Identity::default(), Layout::of(&it.root()).unwrap());
        let claim = Claim {
            place: &place,
            commit: &claimed.commit,
            base: &base,
            message: "m",
            trailers: &trailers,
            identity: &identity,
            is_whole: false,
            was_tried: number < cases.len(),
            patience: Duration::ZERO,
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
fn a_commit_that_says_all_already_lands_as_it_is_where_nothing_came_between() {
    for (meanwhile, step) in [false, true].into_iter().flat_map(|it| STEPS.iter().map(move |step| (it, *step))) {
        let it = Repository::new();
        let (claimed, base) = it.claim("T-1", much);
        if meanwhile {
            it.write("other.txt", "o");
            it.commit("meanwhile");
        }
        users_work(&it);
        let (trailers, identity, place) = (trailers("T-1"), Identity::default(), Layout::of(&it.root()).unwrap());
        let claim = Claim {
            place: &place,
            commit: &claimed.commit,
            base: &base,
            message: "Work",
            trailers: &trailers,
            identity: &identity,
            is_whole: true,
            was_tried: true,
            patience: Duration::ZERO,
        };
        let cut = land_by_steps(&claim, &mut |next| {
            if next == step { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        failed(&cut);
        let was = it.git(&["rev-parse", if step == Step::Done { "HEAD^" } else { "HEAD" }]);
        let landing = land(&claim);
        assert_eq!(it.head() == claimed.commit, !meanwhile, "{step:?}");
        match step {
            Step::Done => assert_eq!(landing, Landing::Already { commit: it.head() }),
            _ => assert_eq!(landing, Landing::Landed { commit: it.head(), was: was.clone() }, "{step:?}"),
        }
        assert_eq!((it.git(&["rev-parse", "HEAD^"]), it.status().as_str()), (was, USERS), "{step:?}");
        assert_eq!(times(&it, "T-1"), 1, "{step:?}");
    }
}

#[test]
fn what_was_prepared_lands_as_that_commit_or_not_at_all() {
    // Whether HEAD moves before it is prepared, and between that and the landing.
    for (before, between) in [(false, false), (true, false), (false, true), (true, true)] {
        let it = Repository::new();
        let work = it.claim("T-1", much);
        let moves = |name: &str| {
            it.write(name, "o");
            it.commit(name);
        };
        if before {
            moves("before.txt");
        }
        with_whole_claim(&it, &work, false, |claim| {
            let prepared = prepare(claim).unwrap();
            assert_eq!((prepared.commit == claim.commit, &prepared.head), (!before, &it.head()));
            if between {
                moves("between.txt");
            }
            let head = it.head();
            let landing = land_prepared(claim, &prepared);
            if between {
                assert_eq!((landing, it.head(), it.status().as_str()), (Landing::Moved, head, ""));
            } else {
                assert_eq!(landing, Landing::Landed { commit: prepared.commit.clone(), was: head });
                assert_eq!((it.head(), it.status().as_str()), (prepared.commit, ""));
            }
        });
    }
}

#[test]
fn what_cannot_land_cannot_be_prepared_and_says_the_same() {
    let it = Repository::new();
    let work = it.claim("T-1", |tree| write(&tree.folder, "same.txt", "theirs\n"));
    it.write("same.txt", "ours\n");
    it.commit("ours");
    with_whole_claim(&it, &work, false, |claim| {
        assert!(matches!(prepare(claim), Err(Landing::Conflict { .. })), "{:?}", prepare(claim));
        assert_eq!(prepare(claim).unwrap_err(), land(claim));
    });
}

#[test]
fn head_is_found_wherever_git_keeps_it() {
    let it = Repository::new();
    for (number, form) in
        [&["pack-refs", "--all"][..], &["checkout", "-q", "-b", "deep/er/name"], &["gc", "-q"]].iter().enumerate()
    {
        it.git(form);
        let claimed = it.claim(&format!("T-{number}"), |tree| write(&tree.folder, &format!("{number}.txt"), "x"));
        let was = it.head();
        assert_eq!(it.land(&format!("T-{number}"), &claimed), Landing::Landed { commit: it.head(), was }, "{form:?}");
    }
    assert_eq!(it.git(&["symbolic-ref", "HEAD"]), "refs/heads/deep/er/name");
}
