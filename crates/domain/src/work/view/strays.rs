//! What somebody changed that they may not change, as the working tree shows it.

use super::locks::with_tasks;
use crate::deciding::{Moment, Need, Observer, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::work::row::{TaskRow, task_of};
use crate::work::scope::contains;
use crate::work::{changed, holding, indexes};
use countersign_contract::{Int, List, Name, shape};
use std::collections::BTreeMap;

/// How many paths are listed.
const LISTED_MAX: usize = 50;
/// How many of the tasks that are held are named.
const NAMED_MAX: usize = 100;
/// How many tasks are looked at in one go.
const AT_A_TIME: usize = 256;

shape! {
    /// What was changed that may not be.
    pub struct StraysShown {
        /// Whether the working tree could be compared: not without git, and not before something was claimed in it, by
        /// whomever.
        pub compared: bool,
        /// The first of the tasks that are held.
        pub task_ids: List<String>,
        /// The first of the paths.
        pub paths: List<String>,
        /// How many there are.
        pub count: Int,
    }
}

shape! {
    /// What was changed in the working tree since somebody's last claim, that none of their tasks may change and that is no
    /// other task's either. Of somebody who holds nothing: what is not committed and lies in what others hold, or in what
    /// the tasks of others are forbidden. Who changed it, the tree does not say.
    pub closed struct ListStrays {
        /// Whose; the caller's own, if it is not said.
        pub owner: Option<Name>,
    }
}

impl ListStrays {
    fn held(&self, moment: &Moment) -> Range {
        let owner = self.owner.as_ref().map_or(moment.actor.as_str(), |owner| owner.as_str());
        indexes::held_by(owner, None, NAMED_MAX)
    }
}

/// Goes through the tasks of a stretch to its end, as long as `go_on` asks for more.
fn walk(observer: &dyn Observer, mut range: Range, mut go_on: impl FnMut(Vec<TaskRow>) -> bool) -> Option<()> {
    loop {
        let mut seen = Seen::default();
        observer.look(&mut seen, vec![Need::Range(range.clone())]).ok()?;
        let tasks = seen.range(&range).map(|(_, key)| Need::Entity(key.clone())).collect();
        observer.look(&mut seen, tasks).ok()?;
        let tasks = seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key))).collect();
        let goes_on = go_on(tasks);
        match seen.rest(&range).filter(|_| goes_on) {
            Some(rest) => range = Range { limit: AT_A_TIME, ..rest },
            None => return Some(()),
        }
    }
}

/// What differs from the commit and lies in what others hold, or in what their tasks are forbidden. None, if nobody holds
/// anything.
fn in_the_way(observer: &dyn Observer) -> Option<Tree> {
    let mut tree: Option<Tree> = None;
    let mut strays = BTreeMap::new();
    walk(observer, indexes::locks(None, AT_A_TIME), |others| {
        if tree.is_none() && !others.is_empty() {
            tree = observer.tree(None);
        }
        let Some(tree) = &mut tree else { return false };
        let found = |path: &String| others.iter().any(|task| is_of(task, path));
        strays.extend(tree.changed.extract_if(.., |path, _| found(path)));
        !tree.changed.is_empty()
    })?;
    Some(Tree { changed: strays, ..tree? })
}

impl View for ListStrays {
    const INFO: ViewInfo =
        ViewInfo { id: "lock.strays", summary: "What was changed since somebody's claim that they may not change" };
    type Shown = StraysShown;

    /// Of the tree, only what they may not change: which commit it is compared with depends on the claim.
    fn tree(&self, observer: &dyn Observer, moment: &Moment) -> Option<Tree> {
        let mut held: Vec<TaskRow> = Vec::new();
        walk(observer, self.held(moment), |some| {
            held.extend(some);
            true
        })?;
        let Some(last) = held.iter().max_by_key(|task| task.lease) else { return in_the_way(observer) };
        let paths = changed::since_claim(observer, last).ok()??;
        let strays = paths.into_iter().filter(|path| !held.iter().any(|task| may_change(task, path)));
        let commit = last.base.as_ref().map(|base| base.commit.clone());
        Some(Tree { commit, changed: strays.map(|path| (path, None)).collect() })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        with_tasks(self.held(moment), seen)
    }

    fn render(&self, seen: &Seen, moment: &Moment, tree: Option<&Tree>) -> Result<StraysShown, Refusal> {
        let held = self.held(moment);
        let held = seen.range(&held).filter_map(|(_, key)| task_of(seen.entity(key)));
        let strays = || tree.into_iter().flat_map(|tree| tree.changed.keys());
        Ok(StraysShown {
            compared: tree.is_some(),
            task_ids: held.map(|task| task.task).collect::<Vec<_>>().into(),
            count: (strays().count() as u64).into(),
            paths: strays().take(LISTED_MAX).cloned().collect::<Vec<_>>().into(),
        })
    }
}

fn inside(scope: &[String], path: &str) -> bool {
    scope.iter().any(|scope| contains(scope, path))
}

fn may_change(task: &TaskRow, path: &str) -> bool {
    holding::keeps_log_at(task, path)
        || (inside(&task.spec.lock_scope, path) && !inside(&task.spec.forbidden_scope, path))
}

/// Whether a path is one that a task holds, or one that it may not touch.
fn is_of(task: &TaskRow, path: &str) -> bool {
    inside(&task.spec.lock_scope, path) || inside(&task.spec.forbidden_scope, path)
}
