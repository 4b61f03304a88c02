use crate::ids::TaskId;
use crate::work::claim::Claim;
use crate::work::payload::Assignment;
use crate::work::places::{Placed, Places};
use countersign_contract::diagnostic::Pointer;
use countersign_contract::{Report, Subject, rule, show};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

rule! {
    /// Two assignments of a run that are given together lock nothing in common, unless one of the two waits for the
    /// other, directly or by way of others given with them.
    ///
    /// ## Why
    /// Assignments that nothing puts in order may be worked on at the same time. Whatever both may change, both will.
    ///
    /// ## Rejected
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "lock_scope": ["src/money"], "worklog_path": "worklogs/T-13.jsonl"}}
    /// ```
    /// ```json rejected
    /// {"task": {"lock_scope": ["src/money/round.rs"]}}
    /// ```
    ///
    /// ## Accepted
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "lock_scope": ["src/money"], "worklog_path": "worklogs/T-13.jsonl",
    ///           "dependencies": ["T-12"]}}
    /// ```
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money/round.rs"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "lock_scope": ["src/money"], "worklog_path": "worklogs/T-13.jsonl",
    ///           "dependencies": ["T-14"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"task_id": "T-14", "lock_scope": ["docs"], "worklog_path": "worklogs/T-14.jsonl",
    ///           "dependencies": ["T-12"]}}
    /// ```
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money/round.rs"]}}
    /// ```
    /// ```json with assignment
    /// {"task": {"task_id": "T-13", "lock_scope": ["src/money2"], "worklog_path": "worklogs/T-13.jsonl"}}
    /// ```
    /// ```json accepted
    /// {"task": {"lock_scope": ["src/money/round.rs"]}}
    /// ```
    pub static LOCK_SCOPE_WANTED_TWICE: Assignment = {
        id: "lock-scope-wanted-twice",
        code: LockConflict,
        severity: Error,
        summary: "two assignments given together want the same, and neither waits for the other",
        check: check,
    }
}

fn check(it: &Subject<'_, Assignment>, report: &mut Report) {
    // The assignments of a turn are compared with each other by the turn.
    if it.others.is_empty() || it.part {
        return;
    }
    let task = &it.record.task;
    let others: Vec<Arc<Assignment>> = it.given::<Assignment>();
    let of_run = |other: &&Arc<Assignment>| other.run_id == it.record.run_id && other.task.task_id != task.task_id;
    let others: Vec<&Assignment> = others.iter().filter(of_run).map(|other| &**other).collect();
    let claims = others.iter().enumerate();
    let claims: Vec<Claim<'_>> =
        claims.flat_map(|(index, other)| Claim::all(index, &other.task.task_id, &other.task.lock_scope)).collect();
    let places = Places::new(&claims, |_| true);
    let usable = task.lock_scope.iter().enumerate().filter(|(_, it)| it.is_usable());
    if usable.clone().all(|(_, resource)| places.overlapping(resource.place()).is_none()) {
        return;
    }
    let ordered = ordered(it.record, &others);
    for (entry, resource) in usable {
        let wanted = places.overlapping_where(resource.place(), |claim| !ordered.contains(claim.task));
        let Some(wanted) = wanted.map(|wanted| &claims[wanted]) else { continue };
        let message = format!(
            "{} wants `{}`, which {} wants too, and neither waits for the other",
            task.task_id,
            show(resource.as_str()),
            wanted.task
        );
        let help =
            format!("let one of the two wait with `dependencies`, or keep `{}` to one", show(wanted.resource.as_str()));
        report.add(Pointer::at("/task/lock_scope").item(entry), message, help);
    }
}

/// The tasks that `this` waits for, and those that wait for it.
fn ordered<'a>(this: &'a Assignment, others: &[&'a Assignment]) -> HashSet<&'a TaskId> {
    let mut before: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    let mut behind: HashMap<&TaskId, Vec<&TaskId>> = HashMap::new();
    for task in others.iter().map(|other| &other.task).chain([&this.task]) {
        for need in task.dependencies.iter() {
            before.entry(&task.task_id).or_default().push(need);
            behind.entry(need).or_default().push(&task.task_id);
        }
    }
    let mut all = reached(&this.task.task_id, &before);
    all.extend(reached(&this.task.task_id, &behind));
    all
}

fn reached<'a>(from: &'a TaskId, ways: &HashMap<&'a TaskId, Vec<&'a TaskId>>) -> HashSet<&'a TaskId> {
    let mut found = HashSet::new();
    let mut open = vec![from];
    while let Some(here) = open.pop() {
        for next in ways.get(here).into_iter().flatten() {
            if found.insert(*next) {
                open.push(next);
            }
        }
    }
    found
}
