//! What is shown of runs and tasks. Nothing here is stored: each is made from what stands in the ledger now.

mod bundle;
pub(crate) mod cursor;
mod effects;
mod graph;
mod locks;
mod packet;
mod reconcile;
mod runs;
mod strays;
mod summary;
mod tasks;
mod worklog;

pub(in crate::work) use bundle::untrue;
pub use bundle::{BundleMade, MakeBundle};
pub use effects::{EffectShown, EffectsShown, ListEffects};
pub use graph::{Graph, GraphNode, GraphShown};
pub use locks::{ListLocks, LockShown, LocksShown, MayChange, MayShown, MyLocks, WhoHolds, WhoShown};
pub(crate) use packet::assignment;
pub use packet::{AssignmentShown, ShowAssignment};
pub use reconcile::{Discrepancy, Reconcile, ReconcileShown};
pub use runs::{ListRuns, MetricsShown, RunShown, RunsShown, ShowRun};
pub use strays::{ListStrays, StraysShown};
pub use summary::summary;
pub use tasks::{ListTasks, NextShown, NextTask, ShowTask, TaskBrief, TaskShown, TasksShown};
pub use worklog::{ShowWorklog, WorklogLine, WorklogShown};

use crate::deciding::{Need, Seen};
use crate::ids::{RunId, TaskId};
use crate::work::picking;
use crate::work::row::{lease_name, task_key};

/// What must be seen of one task.
fn one_task(run: Option<&RunId>, task: &TaskId, seen: &Seen) -> Vec<Need> {
    let mut needs = picking::run_needs(run, seen);
    if let Some(run) = picking::run_so_far(run, seen) {
        needs.push(Need::Entity(task_key(&run, task.as_str())));
        needs.push(Need::Lease(lease_name(&run, task.as_str())));
    }
    needs
}
