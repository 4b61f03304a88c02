//! In which order the tasks of a plan can be done, and which beside each other.

use super::payload::{Plan, PlannedTask};
use crate::work::places::Placed;
use crate::work::scope::overlap;
use std::collections::BTreeSet;

/// Tasks that may go on beside each other, by their numbers in the plan.
pub type Stage = Vec<usize>;

/// The stages of a plan: each task stands in the first stage after all that it depends on in which nobody holds what it
/// wants. None, if tasks wait for each other.
pub fn stages(plan: &Plan) -> Option<Vec<Stage>> {
    let tasks: &[PlannedTask] = &plan.tasks;
    let mut left: BTreeSet<usize> = (0..tasks.len()).collect();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut stages = Vec::new();
    while !left.is_empty() {
        let mut stage: Stage = Vec::new();
        let mut ready: Vec<usize> = left.iter().copied().filter(|task| is_ready(plan, &tasks[*task], &done)).collect();
        ready.sort_by_key(|task| std::cmp::Reverse(tasks[*task].urgency()));
        for task in ready {
            if stage.iter().all(|other| !collide(&tasks[task], &tasks[*other])) {
                stage.push(task);
            }
        }
        if stage.is_empty() {
            return None;
        }
        stage.sort_unstable();
        for task in &stage {
            left.remove(task);
            done.insert(tasks[*task].id.as_str());
        }
        stages.push(stage);
    }
    Some(stages)
}

/// The place of each task in the fixed order of a plan, by its number: after all that it depends on, then as written. Tasks
/// that wait for each other come last.
pub fn places(plan: &Plan) -> Vec<usize> {
    let tasks: &[PlannedTask] = &plan.tasks;
    let mut left: BTreeSet<usize> = (0..tasks.len()).collect();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut places = vec![tasks.len(); tasks.len()];
    for place in 0..tasks.len() {
        let ready = left.iter().copied().find(|task| is_ready(plan, &tasks[*task], &done));
        let Some(task) = ready.or_else(|| left.first().copied()) else { break };
        left.remove(&task);
        done.insert(tasks[task].id.as_str());
        places[task] = place;
    }
    places
}

fn is_ready(plan: &Plan, task: &PlannedTask, done: &BTreeSet<&str>) -> bool {
    plan.needs(task).iter().all(|id| done.contains(id.as_str()))
}

/// Whether two tasks want the same thing.
pub fn collide(one: &PlannedTask, other: &PlannedTask) -> bool {
    one.lock_scope.iter().any(|path| other.lock_scope.iter().any(|it| overlap(path.place(), it.place())))
}
