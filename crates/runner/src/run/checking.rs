//! The checks of a plan, carried out on what was claimed.

use super::attempt::Attempt;
use super::checkouts::Checkouts;
use super::no::{No, Work};
use super::validating::not_stopped;
use super::work::{Claimed, scope};
use super::{Note, Run, settings};
use crate::agent;
use crate::evidence::{self, Before, Evidence, Site, Status};
use crate::worktree::{After, Worktree};
use countersign_domain::plan::machine_checks;
use countersign_domain::plan::payload::{Check, Criterion};
use countersign_domain::validation::evidence::EvidenceKind;
use countersign_domain::work::places::Placed;
use std::path::Path;

/// How often it was looked at what was claimed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// For the first time.
    First,
    /// Once more, on top of what others have landed: that checks tell anything was seen before.
    Again,
}

/// What was found about one criterion: its number, and the evidence.
pub(super) type Found = (usize, Evidence);

/// Runs every check of the plan, each in a checkout in which nothing has run yet, and says which acceptance files the worker
/// had changed.
pub(super) fn look(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    time: Look,
    checkouts: &mut Checkouts<'_, '_>,
) -> Result<(Vec<String>, Vec<Found>), No> {
    let acceptance: &[Criterion] = &attempt.planned.acceptance;
    let mut edits: Vec<String> = claimed.changed.iter().filter(|path| is_test(path)).cloned().collect();
    edits.extend(checkouts.edited());
    edits.sort();
    edits.dedup();
    let pins = checkouts.pins.clone();
    let hosts: Vec<String> =
        run.setup.plan.allow_hosts.iter().flat_map(|hosts| hosts.iter()).map(|host| host.as_str().to_owned()).collect();
    let forbidden: Vec<String> = attempt
        .planned
        .forbidden_scope
        .iter()
        .flat_map(|paths| paths.iter())
        .map(|path| path.place().to_owned())
        .collect();
    let pictures = run.setup.spool.join(super::PICTURES);
    let scope = scope(attempt);
    // By this mark a later runner finds what is left of checks, should this one be gone.
    let attempt_name = super::recover::attempt_name(run.setup.run, attempt.task(), attempt.lease);
    let environment = [(agent::ATTEMPT.to_owned(), format!("{attempt_name}.check"))];
    let site = Site {
        environment: &environment,
        stop: Some(&attempt.stop),
        allowed_hosts: &hosts,
        declared: &claimed.declared,
        changed: &claimed.changed,
        scope: &scope,
        forbidden: &forbidden,
        pictures: Some(&pictures),
        ..Site::at(run.ground.root())
    };
    let mut found = Vec::new();
    for (n, criterion) in acceptance.iter().enumerate() {
        let pinned = criterion.pin.iter().any(|pins| !pins.is_empty());
        for check in machine_checks(criterion) {
            not_stopped(attempt)?;
            let evidence = match (claimed.base.is_some(), check.diff.is_some(), pinned) {
                (false, true, _) => failed(check, Status::Blocked, &no_base(run, "what really changed is known")),
                (false, _, true) => failed(check, Status::Blocked, &no_base(run, "files can be pinned")),
                _ => match checkouts.fresh() {
                    Ok(folder) => with_pictures(check, &Site { checkout: &folder, ..site }, &pictures),
                    Err(why) => failed(check, Status::Blocked, &why),
                },
            };
            if check.program().is_some() {
                checkouts.use_up();
            }
            let evidence = if evidence.passed() && criterion.red_before_green == Some(true) && time == Look::First {
                red_first(run, attempt, claimed, check, &site, &pins, evidence)
            } else {
                evidence
            };
            let id = format!("AC-{}", n + 1);
            let (kind, says) = (evidence.kind.as_str(), evidence.says.as_str());
            run.note(&Note::Seen { task: attempt.task(), criterion: &id, kind, status: evidence.status, says });
            found.push((n, evidence));
        }
    }
    // Somebody who was left behind may have changed what the checkouts were written with.
    settings::must_be(run, attempt.task(), Work::Kept)?;
    Ok((edits, found))
}

/// Why something cannot be had that needs the commit from which the work began.
fn no_base(run: &Run<'_>, what: &str) -> String {
    if run.ground.trees().is_none() {
        format!("{what} in a git repository alone")
    } else {
        format!(
            "{what} only of an agent that works in a tree of its own; this one works in the project's folder itself"
        )
    }
}

fn with_pictures(check: &Check, site: &Site<'_>, pictures: &Path) -> Evidence {
    if check.page.is_some()
        && let Err(error) = std::fs::create_dir_all(pictures)
    {
        let why = format!("{} cannot be made: {error}", pictures.display());
        return failed(check, Status::Blocked, &why);
    }
    evidence::collect(check, site)
}

/// A check must not hold before the work, or it tells nothing about it.
fn red_first(
    run: &Run<'_>,
    attempt: &Attempt<'_>,
    claimed: &Claimed,
    check: &Check,
    site: &Site<'_>,
    pins: &[String],
    green: Evidence,
) -> Evidence {
    let (Some(stock), Some(base)) = (run.ground.stock(), &claimed.base) else {
        return failed(check, Status::Blocked, &no_base(run, "what was there before the work is known"));
    };
    let name = run.ground.name_of_its_own(attempt.task(), attempt.lease);
    let lent = match stock.for_checks(&name, base) {
        Ok(lent) => lent,
        Err(why) => return failed(check, Status::Blocked, &why),
    };
    // The tests that are new with the work are tried on what was there before it.
    let brought = bring(&lent.tree, claimed, pins);
    let before = match brought {
        Ok(()) => evidence::red(check, &Site { checkout: &lent.tree.folder, ..*site }),
        Err(why) => Before::Unknown(failed(check, Status::Blocked, &why)),
    };
    run.ground.back(lent, After::Unknown);
    match before {
        Before::Red(_) => green,
        Before::TellsNothing(_) => {
            failed(check, Status::Fail, "it holds without the work, too, and so tells nothing about it")
        }
        Before::Unknown(evidence) => evidence,
    }
}

/// Puts the tests of the work into a checkout of its base; those that are pinned are there already.
fn bring(tree: &Worktree, claimed: &Claimed, pins: &[String]) -> Result<(), String> {
    let tests: Vec<String> = claimed
        .changed
        .iter()
        .filter(|path| is_test(path))
        .filter(|path| !pins.iter().any(|pin| countersign_domain::work::scope::contains(pin, path)))
        .cloned()
        .collect();
    evidence::pin(&tree.folder, &claimed.bound, &tests).map(|_| ()).map_err(|fault| fault.to_string())
}

/// Whether a file looks like one that tests: a word of its path says so, as in `test_a.py`, `FooTest.java`, `a_spec.rb`.
fn is_test(path: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    for letter in path.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    let says = |word: &String| matches!(word.as_str(), "test" | "tests" | "spec" | "specs" | "testdata" | "conftest");
    words.iter().any(says) || path.ends_with(".t")
}

fn failed(check: &Check, status: Status, says: &str) -> Evidence {
    Evidence::new(check.kinds().first().copied().unwrap_or(EvidenceKind::Statement), status, says)
}
