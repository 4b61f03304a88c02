//! What was really changed since a task was claimed.

use super::indexes;
use super::row::{TaskRow, task_of};
use super::scope::contains;
use super::task_state::TaskStatus;
use crate::deciding::{Key, Need, Observer, Seen};
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
    let strays: Vec<String> = strays.into_iter().collect();
    for some in strays.chunks(AT_A_TIME) {
        let mut seen = Seen::default();
        let ranges: Vec<_> = some.iter().flat_map(|path| indexes::area_overlaps(path)).collect();
        observer.look(&mut seen, ranges.iter().cloned().map(Need::Range).collect())?;
        let others = ranges.iter().flat_map(|range| seen.range(range)).map(|(_, key)| Need::Entity(key.clone()));
        let others = others.collect();
        observer.look(&mut seen, others)?;
        mine.extend(some.iter().filter(|path| !is_of_another(path, task, &seen)).cloned());
    }
    Ok(Some(mine))
}

/// Whether nothing that a task may change differs from the commit that it began with, not even what an attempt before left.
pub(crate) fn is_untouched(observer: &dyn Observer, task: &TaskRow) -> bool {
    let Some(tree) = task.base.as_ref().and_then(|base| observer.tree(Some(&base.commit))) else { return false };
    let own = |path: &String| task.spec.lock_scope.iter().any(|scope| contains(scope, path));
    !tree.changed.keys().any(own)
}

/// Whether a path lies in the area of another task that was worked on since this one was claimed: then it is that one's
/// to answer for. A task that nobody has begun excuses nothing.
fn is_of_another(path: &str, task: &TaskRow, seen: &Seen) -> bool {
    let claimed = task.lease.unwrap_or(0);
    let worked_on = |key: &Key| {
        let found = seen.so_far(key);
        let since = found.is_some_and(|found| found.seq > claimed);
        task_of(found).is_some_and(|other| other.status == TaskStatus::InProgress || (other.attempt > 0 && since))
    };
    let ranges = indexes::area_overlaps(path);
    ranges.iter().any(|range| seen.range(range).any(|(_, key)| *key != task.key() && worked_on(key)))
}
