//! What was really changed since a task was claimed.

use super::indexes;
use super::row::TaskRow;
use super::scope::contains;
use crate::deciding::{Key, Need, Observer, Range, Seen};
use std::collections::BTreeSet;

/// How many changed files are looked up at a time, for whose they are.
const AT_A_TIME: usize = 256;

/// The files that were really changed since the task began, as far as they are this task's or nobody's.
pub(crate) fn since_claim(observer: &dyn Observer, task: &TaskRow) -> Result<Option<BTreeSet<String>>, String> {
    let Some(base) = &task.base else { return Ok(None) };
    let Some(tree) = observer.tree(Some(&base.commit)) else { return Ok(None) };
    let now = tree.changed.iter().filter(|(path, hash)| base.dirty.get(*path) != Some(hash)).map(|(path, _)| path);
    let undone = base.dirty.keys().filter(|path| !tree.changed.contains_key(*path));
    let all: BTreeSet<String> = now.chain(undone).cloned().collect();
    let own = |path: &str| task.spec.lock_scope.iter().any(|scope| contains(scope, path));
    let (mut mine, strays): (BTreeSet<String>, BTreeSet<String>) = all.into_iter().partition(|path| own(path));
    // A result that lies in the tree to be brought is a message, and no work. In the task's own scope it would become part of it, and
    // where the task may write nothing it may not write that.
    let forbidden = |path: &str| task.spec.forbidden_scope.iter().any(|scope| contains(scope, path));
    let excused = |path: &str| !forbidden(path) && observer.is_brought(path, &base.commit);
    let strays: Vec<String> = strays.into_iter().filter(|path| !excused(path)).collect();
    let claimed = task.lease.unwrap_or(0);
    // Another that was worked on since this one was claimed answers for what lies in its area. One that nobody has begun
    // excuses nothing.
    let own = task.key();
    mine.extend(of_nobody(observer, &strays, claimed, &|_| Vec::new(), &|key, _| *key != own)?);
    Ok(Some(mine))
}

/// Of some paths, those in whose area no task was worked on after an event that `answers` for them, given what is needed to
/// tell.
pub(crate) fn of_nobody(
    observer: &dyn Observer,
    paths: &[String],
    since: u64,
    needs: &dyn Fn(&Key) -> Vec<Need>,
    answers: &dyn Fn(&Key, &Seen) -> bool,
) -> Result<Vec<String>, String> {
    let mut left = Vec::new();
    for some in paths.chunks(AT_A_TIME) {
        let mut seen = Seen::default();
        let mut open: Vec<(&String, Vec<Range>)> =
            some.iter().map(|path| (path, indexes::areas(path, since))).collect();
        while !open.is_empty() {
            let ranges = || open.iter().flat_map(|(_, ranges)| ranges);
            observer.look(&mut seen, ranges().cloned().map(Need::Range).collect())?;
            let tasks = ranges().flat_map(|range| seen.range(range)).flat_map(|(_, key)| needs(key)).collect();
            observer.look(&mut seen, tasks)?;
            let mut further = Vec::new();
            for (path, ranges) in open {
                let mut hits = ranges.iter().flat_map(|range| seen.range(range));
                if hits.any(|(at, key)| indexes::is_since(at, since) && answers(key, &seen)) {
                    continue;
                }
                // Nobody who was shown does; that says nothing of those who were not.
                let rest: Vec<Range> = ranges.iter().filter_map(|range| seen.rest(range)).map(longer).collect();
                if rest.is_empty() { left.push(path.clone()) } else { further.push((path, rest)) }
            }
            open = further;
        }
    }
    Ok(left)
}

/// Whoever goes on through a long stretch goes on in larger steps.
fn longer(range: Range) -> Range {
    let limit = (range.limit * 8).min(1024);
    Range { limit, ..range }
}

/// Whether nothing that a task may change differs from the commit that it began with, not even what an attempt before left.
pub(crate) fn is_untouched(observer: &dyn Observer, task: &TaskRow) -> bool {
    let Some(tree) = task.base.as_ref().and_then(|base| observer.tree(Some(&base.commit))) else { return false };
    let own = |path: &String| task.spec.lock_scope.iter().any(|scope| contains(scope, path));
    !tree.changed.keys().any(own)
}
