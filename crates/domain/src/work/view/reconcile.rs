//! The operator ledger against the locks, the leases, the worklogs and the working tree.

use crate::deciding::{Key, Moment, Need, Observer, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::RunId;
use crate::work::picking::said;
use crate::work::row::{TaskRow, run_key, run_of, task_of};
use crate::work::scope::contains;
use crate::work::task_state::TaskStatus;
use crate::work::{changed, indexes, picking};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, Links, List, shape, show};
use std::collections::{BTreeMap, BTreeSet};

/// How many tasks are gone through. Of a run that has more, nobody is told that everything agrees.
const TASKS_MAX: usize = 100_000;
/// How many stray files are listed.
const STRAYS_MAX: usize = 100;

shape! {
    /// Something that does not agree.
    pub struct Discrepancy {
        /// What it is filed under.
        pub code: String,
        /// The task, if it is about one.
        pub task_id: Option<String>,
        /// One sentence.
        pub reason: String,
        /// What to do.
        pub help: String,
    }
}

shape! {
    /// Whether the operator ledger agrees with everything else.
    pub struct ReconcileShown {
        /// The run.
        pub run_id: String,
        /// Whether it does.
        pub clean: bool,
        /// How many tasks were gone through.
        pub tasks: Int,
        /// Whether the working tree was looked at: not without git.
        pub tree: bool,
        /// What does not agree.
        pub findings: List<Discrepancy>,
    }
}

shape! {
    /// Compare the operator ledger with locks, leases, worklogs and, in a git repository, the working tree.
    pub closed struct Reconcile {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
    }
}

impl Reconcile {
    /// Of a working tree only what no task of a run that is open answers for, whichever run that is.
    pub(crate) fn unanswered(&self, mut tree: Tree, observer: &dyn Observer) -> Option<Tree> {
        let paths: Vec<String> = tree.changed.keys().cloned().collect();
        let of = |key: &Key| key.id.split_once('/').map(|(run, _)| run_key(run));
        let needs = |key: &Key| of(key).into_iter().chain([key.clone()]).map(Need::Entity).collect::<Vec<_>>();
        let named = self.run_id.as_ref().map(|run| run.as_str());
        let answers = |key: &Key, seen: &Seen| {
            let run = of(key).and_then(|run| run_of(seen.entity(&run)));
            let counts = run.is_some_and(|run| run.is_open() || named == Some(run.run.as_str()));
            counts && task_of(seen.entity(key)).is_some_and(|task| was_worked_on(&task))
        };
        let left = changed::of_nobody(observer, &paths, 0, &needs, &answers).ok()?;
        let left: BTreeSet<String> = left.into_iter().collect();
        tree.changed.retain(|path, _| left.contains(path));
        Some(tree)
    }
}

impl View for Reconcile {
    const INFO: ViewInfo = ViewInfo {
        id: "reconcile",
        summary: "Whether the operator ledger agrees with locks, leases, worklogs and the working tree",
    };
    type Shown = ReconcileShown;

    fn tree(&self, observer: &dyn Observer, _: &Moment) -> Option<Tree> {
        self.unanswered(observer.tree(None)?, observer)
    }

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = indexes::tasks(&run, None, TASKS_MAX);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Lease(key.id.to_string()));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, moment: &Moment, tree: Option<&Tree>) -> Result<ReconcileShown, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = indexes::tasks(&run.run, None, TASKS_MAX);
        let tasks: Vec<TaskRow> = seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key))).collect();
        let dead: BTreeMap<&str, TaskStatus> = tasks
            .iter()
            .filter(|task| task.status.is_final() && task.status != TaskStatus::Done)
            .map(|task| (task.task.as_str(), task.status))
            .collect();
        let mut findings = Vec::new();
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for task in &tasks {
            *counts.entry(task.status.as_str()).or_default() += 1;
            look_at(task, &dead, seen, moment, &mut findings);
        }
        let is_whole = seen.rest(&range).is_none();
        if !is_whole {
            let reason = format!("run {} has more than {TASKS_MAX} tasks, and the others were not looked at", run.run);
            let help = "put further work into another run";
            findings.push(finding(Code::LedgerInconsistent, None, reason, help));
        }
        circles(&tasks, &mut findings);
        let counted = run.metrics.by_status.iter().filter(|(_, count)| **count > 0);
        let counted: BTreeMap<&str, u64> = counted.map(|(status, count)| (status.as_str(), *count)).collect();
        if counted != counts && is_whole {
            let reason = format!("the run counts {counted:?}, and its rows say {counts:?}");
            findings.push(finding(Code::LedgerInconsistent, None, reason, "run `countersign rebuild`"));
        }
        if let Some(tree) = tree {
            strays(tree, &tasks, &mut findings);
        }
        Ok(ReconcileShown {
            run_id: run.run,
            clean: findings.is_empty(),
            tasks: (tasks.len() as u64).into(),
            tree: tree.is_some(),
            findings: findings.into(),
        })
    }
}

fn finding(code: Code, task: Option<&TaskRow>, reason: String, help: &str) -> Discrepancy {
    let task_id = task.map(|task| task.task.clone());
    Discrepancy { code: code.as_str().to_owned(), task_id, reason, help: help.to_owned() }
}

fn look_at(
    task: &TaskRow,
    dead: &BTreeMap<&str, TaskStatus>,
    seen: &Seen,
    moment: &Moment,
    findings: &mut Vec<Discrepancy>,
) {
    let hold = seen.lease(&task.lease_name());
    match (task.status, hold) {
        (TaskStatus::InProgress, None) => {
            let reason = format!("{} is in progress, and nobody holds its lease", task.task);
            findings.push(finding(Code::LedgerInconsistent, Some(task), reason, "run `countersign verify`"));
        }
        (TaskStatus::InProgress, Some(hold)) if hold.deadline <= moment.now_ms => {
            let reason = format!("the lease of {} lapsed at {}", task.task, said(hold.deadline));
            let help = "the next command takes it back; `countersign watch` does so on time";
            findings.push(finding(Code::TaskTimeout, Some(task), reason, help));
        }
        (TaskStatus::InProgress, Some(hold)) if task.lease != Some(hold.number) => {
            let reason =
                format!("{} is worked on under lease {:?}, and {} is held", task.task, task.lease, hold.number);
            findings.push(finding(Code::LedgerInconsistent, Some(task), reason, "run `countersign verify`"));
        }
        (status, Some(_)) if status != TaskStatus::InProgress => {
            let reason = format!("{} is {status}, and its lease is held", task.task);
            findings.push(finding(Code::LedgerInconsistent, Some(task), reason, "run `countersign verify`"));
        }
        _ => {}
    }
    let silent = hold.map(|hold| (moment.now_ms - hold.beat) / 1000).unwrap_or(0);
    if task.status == TaskStatus::InProgress && silent > task.spec.heartbeat_interval_seconds * 2 {
        let reason = format!(
            "{} gave no sign of life for {silent} s; one every {} s was asked for",
            task.owner.as_deref().unwrap_or("somebody"),
            task.spec.heartbeat_interval_seconds
        );
        findings.push(finding(Code::TaskTimeout, Some(task), reason, "look after its worker"));
    }
    if task.status == TaskStatus::Done && task.worklog == 0 {
        let reason = format!("{} is done, and its worklog has no line in the ledger", task.task);
        let worker = task.owner.as_deref().unwrap_or("its worker");
        let help = format!(
            "add what is known of it: `countersign worklog add {} --action … --decision … --result … --next …`, which {}, whoever \
             leads the run or a person may",
            task.task,
            show(worker)
        );
        findings.push(finding(Code::LedgerInconsistent, Some(task), reason, &help));
    }
    for dependency in &task.waiting_for {
        if let Some(status) = dead.get(dependency.as_str()).filter(|_| !task.status.is_final()) {
            let reason = format!("{} waits for {dependency}, which is {status}", task.task);
            let help = "replan it without that, or cancel it";
            findings.push(finding(Code::DependencyNotMet, Some(task), reason, help));
        }
    }
}

/// Tasks that wait for each other, of which none is ever begun. No command makes such a thing any more; ledgers of earlier versions
/// may have it.
fn circles(tasks: &[TaskRow], findings: &mut Vec<Discrepancy>) {
    let mut links = Links::default();
    for task in tasks.iter().filter(|task| !task.status.is_final()) {
        task.waiting_for.iter().for_each(|other| links.add("task", &task.task, other));
    }
    let mut told = BTreeSet::new();
    for task in tasks {
        // Of those that hang together, one circle at a time is enough to go on with.
        if !links.knot("task", &task.task).is_some_and(|knot| told.insert(knot)) {
            continue;
        }
        let circle = links.circle("task", &task.task).unwrap_or_default();
        let reason = match circle.len() {
            0 | 1 => format!("{} waits for itself", task.task),
            _ => format!("these tasks wait for each other: {}", circle.join(", ")),
        };
        let help = "replan one of them without what it waits for (`countersign task replan`), or cancel it";
        findings.push(finding(Code::DependencyNotMet, Some(task), reason, help));
    }
}

/// Whether somebody worked on it whose work is still to count. What was given back half-way is gone on with by the next.
fn was_worked_on(task: &TaskRow) -> bool {
    match task.status {
        TaskStatus::InProgress | TaskStatus::Done | TaskStatus::Blocked => true,
        TaskStatus::Todo => task.attempt > 0,
        TaskStatus::Failed | TaskStatus::Canceled => false,
    }
}

/// Files that differ from the commit and belong to no task that is in progress or was done.
fn strays(tree: &Tree, tasks: &[TaskRow], findings: &mut Vec<Discrepancy>) {
    let dirty_before = |path: &String| {
        let bases = tasks.iter().filter_map(|task| task.base.as_ref());
        bases.clone().next().is_some() && bases.into_iter().all(|base| base.dirty.contains_key(path))
    };
    let owned = |path: &String| {
        let mut tasks = tasks.iter().filter(|task| was_worked_on(task));
        tasks.any(|task| {
            *path == task.spec.worklog_path || task.spec.lock_scope.iter().any(|scope| contains(scope, path))
        })
    };
    let strays =
        tree.changed.keys().filter(|path| !owned(path) && !dirty_before(path) && !contains(".countersign", path));
    for path in strays.take(STRAYS_MAX) {
        let reason = format!("`{}` was changed, and no task that was worked on may change it", show(path));
        let help = "commit it, if it belongs to the project (as what `countersign install` wrote does); otherwise undo it, or \
                    have it made the work of a task";
        findings.push(finding(Code::ScopeViolation, None, reason, help));
    }
}
