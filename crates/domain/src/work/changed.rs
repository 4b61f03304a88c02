//! What was really changed since a task was claimed.

use super::indexes;
use super::row::TaskRow;
use super::scope::contains;
use crate::deciding::{Need, Observer, Seen};
use std::collections::BTreeSet;

/// How many changed files are looked at for whose they are.
const STRAYS_MAX: usize = 256;

/// The files that were really changed since the task began, as far as they are this task's or nobody's.
pub(crate) fn since_claim(observer: &dyn Observer, task: &TaskRow) -> Result<Option<BTreeSet<String>>, String> {
    let Some(base) = &task.base else { return Ok(None) };
    let Some(tree) = observer.tree(Some(&base.commit)) else { return Ok(None) };
    let now = tree.changed.iter().filter(|(path, hash)| base.dirty.get(*path) != Some(hash)).map(|(path, _)| path);
    let undone = base.dirty.keys().filter(|path| !tree.changed.contains_key(*path));
    let all: BTreeSet<String> = now.chain(undone).cloned().collect();
    let own = |path: &str| task.spec.lock_scope.iter().any(|scope| contains(scope, path));
    let (mut mine, strays): (BTreeSet<String>, BTreeSet<String>) = all.into_iter().partition(|path| own(path));
    // What lies in another task's area is that one's to answer for.
    let mut seen = Seen::default();
    let strays: Vec<String> = strays.into_iter().take(STRAYS_MAX).collect();
    let ranges = |path: &str| indexes::area_overlaps(path);
    observer.look(&mut seen, strays.iter().flat_map(|path| ranges(path)).map(Need::Range).collect())?;
    let of_another =
        |path: &&String| ranges(path).iter().any(|range| seen.range(range).any(|(_, key)| *key != task.key()));
    mine.extend(strays.iter().filter(|path| !of_another(path)).cloned());
    Ok(Some(mine))
}
