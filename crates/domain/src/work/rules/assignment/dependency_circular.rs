use crate::ids::TaskId;
use crate::work::payload::Assignment;
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Contract, Report, Subject, rule, show};
use std::collections::HashSet;

rule! {
    /// Tasks that are given together do not wait for each other in a circle.
    ///
    /// ## Why
    /// None of them could ever start.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "dependencies": ["T-14"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"task_id": "T-14", "dependencies": ["T-12"]}}
    /// ```
    /// ```json rejected
    /// {"task": {"task_id": "T-12", "dependencies": ["T-13"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "dependencies": ["T-14"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"task_id": "T-14"}}
    /// ```
    /// ```json accepted
    /// {"task": {"task_id": "T-12", "dependencies": ["T-13", "T-14"]}}
    /// ```
    pub static DEPENDENCY_CIRCULAR: Assignment = {
        id: "dependency-circular",
        code: DependencyNotMet,
        severity: Error,
        summary: "tasks wait for each other in a circle",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    let Assignment { run_id, task, .. } = it.record;
    if it.others.is_empty() || task.dependencies.is_empty() {
        return;
    }
    let name = Assignment::name(run_id, &task.task_id);
    let circle = match it.others.circle(Assignment::NAME, &name) {
        None if it.others.find(Assignment::NAME, &name).is_none() => way_back(it),
        circle => circle,
    };
    if let Some(circle) = circle.filter(|circle| circle.len() > 1) {
        let tasks: Vec<&str> = circle.iter().map(|name| name.rsplit('/').next().unwrap_or(name)).collect();
        let message = format!("{} waits for itself by way of {}", task.task_id, show(&tasks[1..].join(", ")));
        report.add(Pointer::at("/task/dependencies"), message, "drop one of these dependencies");
    }
}

/// The circle that this task closes over those given with it, when it is not one of them: from each task that it needs
/// to what that one needs, each looked at once, until one needs this task.
fn way_back(it: &Subject<'_, Assignment>) -> Option<Vec<String>> {
    let Assignment { run_id, task, .. } = it.record;
    let mut seen: HashSet<TaskId> = HashSet::new();
    let mut path: Vec<(TaskId, Vec<TaskId>)> = vec![(task.task_id.clone(), task.dependencies.to_vec())];
    while let Some((_, needs)) = path.last_mut() {
        let Some(next) = needs.pop() else {
            path.pop();
            continue;
        };
        if next == task.task_id {
            return Some(path.iter().map(|(task, _)| task.to_string()).collect());
        }
        if seen.insert(next.clone())
            && let Some(other) = it.other::<Assignment>(&Assignment::name(run_id, &next))
        {
            path.push((next, other.task.dependencies.to_vec()));
        }
    }
    None
}
