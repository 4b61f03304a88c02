//! What somebody changed that they may not change, as the working tree shows it.

use super::locks::{OWN_MAX, with_tasks};
use crate::deciding::{Moment, Need, Observer, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::work::row::{TaskRow, task_of};
use crate::work::scope::{contains, normal};
use crate::work::{changed, indexes};
use countersign_contract::{Int, List, Name, shape};

/// How many paths are listed.
const LISTED_MAX: usize = 50;
/// How many locks of others are looked at for somebody who holds nothing.
const LOCKS_MAX: usize = 1000;

shape! {
    /// What was changed that may not be.
    pub struct StraysShown {
        /// Whether the working tree could be compared: not without git, and not before something was claimed in it, by
        /// whomever.
        pub compared: bool,
        /// The tasks that are held.
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
    fn range(&self, moment: &Moment) -> Range {
        let owner = self.owner.as_ref().map_or(moment.actor.as_str(), |owner| owner.as_str());
        indexes::held_by(owner, OWN_MAX)
    }

    fn held(&self, seen: &Seen, moment: &Moment) -> Vec<TaskRow> {
        tasks(&self.range(moment), seen)
    }
}

fn tasks(range: &Range, seen: &Seen) -> Vec<TaskRow> {
    seen.range(range).filter_map(|(_, key)| task_of(seen.entity(key))).collect()
}

fn locks_of_others() -> Range {
    indexes::locks(None, LOCKS_MAX)
}

impl View for ListStrays {
    const INFO: ViewInfo =
        ViewInfo { id: "lock.strays", summary: "What was changed since somebody's claim that they may not change" };
    type Shown = StraysShown;

    /// Of the tree, only what is theirs or nobody's: which commit it is compared with depends on the claim.
    fn tree(&self, observer: &dyn Observer, moment: &Moment) -> Option<Tree> {
        let mut seen = Seen::default();
        let range = self.range(moment);
        observer.look(&mut seen, vec![Need::Range(range.clone())]).ok()?;
        let tasks = with_tasks(range, &seen);
        observer.look(&mut seen, tasks).ok()?;
        let Some(last) = self.held(&seen, moment).into_iter().max_by_key(|task| task.lease) else {
            observer.look(&mut seen, vec![Need::Range(locks_of_others())]).ok()?;
            seen.range(&locks_of_others()).next()?;
            return observer.tree(None);
        };
        let paths = changed::since_claim(observer, &last).ok()??;
        let commit = last.base.map(|base| base.commit);
        Some(Tree { commit, changed: paths.into_iter().map(|path| (path, None)).collect() })
    }

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let own = self.range(moment);
        let holds_nothing = seen.range_so_far(&own).is_some_and(|held| held.is_empty());
        let others = if holds_nothing { with_tasks(locks_of_others(), seen) } else { Vec::new() };
        with_tasks(own, seen).into_iter().chain(others).collect()
    }

    fn render(&self, seen: &Seen, moment: &Moment, tree: Option<&Tree>) -> Result<StraysShown, Refusal> {
        let held = self.held(seen, moment);
        let others = if held.is_empty() { tasks(&locks_of_others(), seen) } else { Vec::new() };
        let may = |path: &str| match held.is_empty() {
            true => !others.iter().any(|task| is_of(task, path)),
            false => held.iter().any(|task| may_change(task, path)),
        };
        let strays: Vec<String> =
            tree.into_iter().flat_map(|tree| tree.changed.keys()).filter(|path| !may(path)).cloned().collect();
        Ok(StraysShown {
            compared: tree.is_some(),
            task_ids: held.iter().map(|task| task.task.clone()).collect::<Vec<_>>().into(),
            count: (strays.len() as u64).into(),
            paths: strays.into_iter().take(LISTED_MAX).collect::<Vec<_>>().into(),
        })
    }
}

fn inside(scope: &[String], path: &str) -> bool {
    scope.iter().any(|scope| contains(scope, path))
}

fn may_change(task: &TaskRow, path: &str) -> bool {
    let log = normal(&task.spec.worklog_path).is_ok_and(|log| log == path);
    log || (inside(&task.spec.lock_scope, path) && !inside(&task.spec.forbidden_scope, path))
}

/// Whether a path is one that a task holds, or one that it may not touch.
fn is_of(task: &TaskRow, path: &str) -> bool {
    inside(&task.spec.lock_scope, path) || inside(&task.spec.forbidden_scope, path)
}
