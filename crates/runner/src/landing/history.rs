//! What the history says: whether a claim has landed, what HEAD becomes with it, and who was there first.

use super::{Claim, Landing, Stand, Touch};
use crate::worktree::call::{Fault, Git, is_commit, pieces};
use crate::worktree::change::{between, called};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// How many commits are named that touched what is in conflict.
const TOUCHES_MAX: usize = 10;

/// The commit since the base that has all the trailers, and in which every file of the claim is what was claimed. Anybody can
/// write trailers.
pub(super) fn landed_before(git: &Git, claim: &Claim) -> Result<Option<String>, String> {
    let range = format!("{}..HEAD", claim.base);
    let format = "--format=tformat:%H%x1f%(trailers:only,unfold,separator=%x1f)";
    let out = git.run(&["log", "-z", format, &range, "--"], &[])?;
    let wanted: Vec<String> = claim.trailers.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    let found = pieces(&out).find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split('\x1f');
        let commit = fields.next()?;
        let found: Vec<&str> = fields.map(str::trim).collect();
        wanted.iter().all(|trailer| found.contains(&trailer.as_str())).then(|| commit.to_owned())
    });
    let Some(commit) = found else { return Ok(None) };
    let claimed: BTreeSet<Vec<u8>> = between(git, claim.base, claim.commit)?.into_iter().map(|it| it.name).collect();
    let differs = between(git, claim.commit, &commit)?.iter().any(|change| claimed.contains(&change.name));
    Ok((!differs).then_some(commit))
}

/// The tree that HEAD becomes, as git can be asked for it, or the files that are in conflict.
pub(super) fn merge(git: &Git, claim: &Claim, stand: &Stand<'_>) -> Result<Result<String, Vec<Vec<u8>>>, String> {
    if stand.head == claim.base {
        return Ok(Ok(format!("{}^{{tree}}", claim.commit)));
    }
    if let Some(tree) = claim.place.objects.merged(claim.base, &stand.head, claim.commit) {
        return Ok(Ok(tree));
    }
    let base = format!("--merge-base={}", claim.base);
    let arguments =
        ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", &base, &stand.head, claim.commit];
    let (out, is_clean) = match git.run(&arguments, &[]) {
        Ok(out) => (out, true),
        Err(Fault { code: Some(1), out, .. }) => (out, false),
        Err(Fault { code: Some(129), .. }) => {
            return Err("this git cannot merge without touching files; install git 2.40 or newer".into());
        }
        Err(fault) => return Err(fault.text),
    };
    let mut parts = pieces(&out);
    let tree = parts.next().and_then(|tree| std::str::from_utf8(tree).ok()).filter(|tree| is_commit(tree));
    let tree = tree.ok_or("`git merge-tree` answered in an unknown form")?;
    let names: Vec<Vec<u8>> = parts.map(<[u8]>::to_vec).collect();
    Ok(if is_clean { Ok(tree.to_owned()) } else { Err(names) })
}

pub(super) fn conflict(git: &Git, claim: &Claim, stand: &Stand<'_>, names: &[Vec<u8>]) -> Result<Landing, String> {
    let format = "--format=tformat:%H%x1f%an%x1f%s%x1f%(trailers:key=Countersign-Task,valueonly,separator=%x20)";
    let (most, range) = (format!("--max-count={TOUCHES_MAX}"), format!("{}..{}", claim.base, stand.head));
    let mut arguments: Vec<OsString> = ["log", "-z", format, &most, &range, "--"].iter().map(OsString::from).collect();
    // A few say enough, and the list of arguments stays short.
    arguments.extend(names.iter().take(50).map(|name| crate::names::path(name).into_os_string()));
    let out = git.run(&arguments, &[])?;
    let touch = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut fields = line.split('\x1f').map(|field| field.trim().to_owned());
        let (commit, author, subject) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Touch { commit, author, subject, task: fields.next().filter(|task| !task.is_empty()) })
    };
    let mut paths: Vec<String> = names.iter().map(|name| called(name, stand.place.prefix.as_bytes())).collect();
    paths.dedup();
    Ok(Landing::Conflict { paths, ours: pieces(&out).filter_map(touch).collect(), theirs: claim.commit.to_owned() })
}
