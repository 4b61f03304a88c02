//! Tasks as they stand.

use super::cursor::{self, PAGE, PAGE_MAX};
use super::one_task;
use crate::deciding::{Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::ids::{RunId, TaskId};
use crate::work::picking::said;
use crate::work::row::{TaskRow, refused_key, refused_of, task_of};
use crate::work::task_state::TaskStatus;
use crate::work::{choosing, indexes, picking};
use countersign_contract::{Int, List, Map, Untrusted, shape};

shape! {
    /// A task in a list.
    pub struct TaskBrief {
        /// The run.
        pub run_id: String,
        /// The task.
        pub task_id: String,
        /// One line.
        pub title: String,
        /// Its state.
        pub status: String,
        /// How sure it is that it is done: `claimed` is the worker's word.
        pub assurance: Option<String>,
        /// How soon.
        pub priority: String,
        /// Who works on it, or did so last.
        pub owner: Option<String>,
        /// When its lease lapses without a sign of life.
        pub expires_at: Option<String>,
        /// Its last sign of life.
        pub last_heartbeat_at: Option<String>,
        /// What it may change.
        pub lock_scope: List<String>,
        /// What is not done yet that it depends on.
        pub waiting_for: List<String>,
        /// What keeps it from going on: code and reason.
        pub blocker: Option<String>,
        /// How often it was begun.
        pub attempt: Int,
        /// The version of this row: the last event that changed it.
        pub version: Int,
    }
}

/// A task in a list. Its lease is shown if it was looked up.
pub(super) fn brief(task: &TaskRow, version: u64, seen: &Seen) -> TaskBrief {
    let held = task.status == TaskStatus::InProgress && seen.has(&Need::Lease(task.lease_name()));
    let hold = if held { seen.lease(&task.lease_name()) } else { None };
    TaskBrief {
        run_id: task.run.clone(),
        task_id: task.task.clone(),
        title: task.spec.title.clone(),
        status: task.status.as_str().to_owned(),
        assurance: task.assurance.clone(),
        priority: task.spec.priority.clone(),
        owner: task.owner.clone(),
        expires_at: hold.map(|hold| said(hold.deadline)),
        last_heartbeat_at: hold.map(|hold| said(hold.beat)),
        lock_scope: task.spec.lock_scope.clone().into(),
        waiting_for: task.waiting_for.clone().into(),
        blocker: task.blocker.as_ref().map(|it| format!("{}: {}", it.code, it.reason)),
        attempt: u64::from(task.attempt).into(),
        version: version.into(),
    }
}

shape! {
    /// Tasks of a run.
    pub struct TasksShown {
        /// The run.
        pub run_id: String,
        /// The tasks.
        pub tasks: List<TaskBrief>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// The tasks of a run, in the order in which they were added.
    pub closed struct ListTasks {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// Only those in this state.
        pub status: Option<TaskStatus>,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many are looked at; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl ListTasks {
    fn range(&self, run: &str) -> Range {
        let limit = self.limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE));
        indexes::tasks(run, cursor::place(self.cursor.as_deref()).as_deref(), limit)
    }
}

impl View for ListTasks {
    const INFO: ViewInfo =
        ViewInfo { id: "task.list", summary: "The tasks of a run, in the order in which they were added" };
    type Shown = TasksShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = picking::run_needs(self.run_id.as_ref(), seen);
        let Some(run) = picking::run_so_far(self.run_id.as_ref(), seen) else { return needs };
        let range = self.range(&run);
        for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
            needs.push(Need::Entity(key.clone()));
            needs.push(Need::Lease(key.id.to_string()));
        }
        needs.push(Need::Range(range));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<TasksShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let range = self.range(&run.run);
        let hits: Vec<_> = seen.range(&range).collect();
        let next = hits.last().filter(|_| hits.len() == range.limit).map(|(at, _)| cursor::write(at));
        let tasks = hits.into_iter().filter_map(|(_, key)| {
            let found = seen.entity(key)?;
            let task = task_of(Some(found))?;
            let wanted = self.status.is_none_or(|status| status == task.status);
            wanted.then(|| brief(&task, found.seq, seen))
        });
        Ok(TasksShown { run_id: run.run, tasks: tasks.collect::<Vec<_>>().into(), next })
    }
}

shape! {
    /// A result that was refused.
    pub struct RefusedResult {
        /// What it is filed under.
        pub code: String,
        /// One sentence.
        pub reason: Untrusted<String>,
        /// What was wrong with it, the first of it: what, where, and what to do.
        pub findings: List<Untrusted<String>>,
        /// The event that says so.
        pub event: Int,
    }
}

shape! {
    /// A task as it stands, with all that was asked for.
    pub struct TaskShown {
        /// How it stands.
        pub task: TaskBrief,
        /// The number of the lease under which it is worked on.
        pub lease: Option<Int>,
        /// Whether others may go on beside it.
        pub kind as "type": String,
        /// The tasks that must be done before.
        pub dependencies: List<String>,
        /// What it may not change.
        pub forbidden_scope: List<String>,
        /// When it is done.
        pub acceptance_criteria: List<Untrusted<String>>,
        /// Where its worker keeps a log.
        pub worklog_path: String,
        /// How many lines that has in the ledger.
        pub worklog_lines: Int,
        /// How long its worker may be silent.
        pub timeout_seconds: Int,
        /// How often its worker should give a sign of life.
        pub heartbeat_interval_seconds: Int,
        /// How often each of its owners failed.
        pub failures: Map<Int>,
        /// The leases that have lapsed.
        pub lapses: List<Int>,
        /// The event that brought the result.
        pub result: Option<Int>,
        /// The last result that its worker brought, if it was refused and none was accepted since.
        pub refused_result: Option<RefusedResult>,
    }
}

shape! {
    /// A task as it stands, with all that was asked for.
    pub closed struct ShowTask {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
        /// The task.
        pub task_id: TaskId,
    }
}

impl View for ShowTask {
    const INFO: ViewInfo = ViewInfo { id: "task.show", summary: "A task as it stands, with all that was asked for" };
    type Shown = TaskShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        let mut needs = one_task(self.run_id.as_ref(), &self.task_id, seen);
        let run = picking::run_so_far(self.run_id.as_ref(), seen);
        let task = run.and_then(|run| crate::work::row::task_seen(seen, &run, self.task_id.as_str()));
        let Some(task) = task else { return needs };
        let refused_at = refused_key(&task.run, &task.task);
        let refused = refused_of(&task, seen.so_far(&refused_at));
        needs.extend([Need::Texts(task.asked), Need::Entity(refused_at)]);
        needs.extend(refused.map(|refused| Need::Texts(refused.at)));
        needs
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<TaskShown, Refusal> {
        let run = picking::run(self.run_id.as_ref(), seen)?;
        let task = picking::task(&run, &self.task_id, seen)?;
        let version = seen.entity(&task.key()).map_or(0, |found| found.seq);
        let gone = || Untrusted::new("(erased)".to_owned());
        let criteria = (0..task.spec.criteria).map(|n| seen.text(task.asked, n).cloned().unwrap_or_else(gone));
        let refused = refused_of(&task, seen.entity(&refused_key(&task.run, &task.task))).map(|refused| {
            let texts: Vec<_> = seen.texts(refused.at).iter().map(|text| text.clone().unwrap_or_else(gone)).collect();
            let mut texts = texts.into_iter();
            RefusedResult {
                code: refused.code,
                reason: texts.next().unwrap_or_else(gone),
                findings: texts.collect::<Vec<_>>().into(),
                event: refused.at.into(),
            }
        });
        let failures = task.failures.iter().map(|(owner, count)| (owner.clone(), Int::from(u64::from(*count))));
        Ok(TaskShown {
            lease: task.lease.map(Int::from),
            kind: task.spec.kind.clone(),
            dependencies: task.spec.dependencies.clone().into(),
            forbidden_scope: task.spec.forbidden_scope.clone().into(),
            acceptance_criteria: criteria.collect::<Vec<_>>().into(),
            worklog_path: task.spec.worklog_path.clone(),
            worklog_lines: task.worklog.into(),
            timeout_seconds: task.timeout_seconds.unsigned_abs().into(),
            heartbeat_interval_seconds: task.spec.heartbeat_interval_seconds.unsigned_abs().into(),
            failures: failures.collect(),
            lapses: task.lapses.iter().copied().map(Int::from).collect::<Vec<_>>().into(),
            result: task.result.map(Int::from),
            refused_result: refused,
            task: brief(&task, version, seen),
        })
    }
}

shape! {
    /// The best task that is ready, if there is one.
    pub struct NextShown {
        /// The task.
        pub task: Option<TaskBrief>,
        /// Why there is none.
        pub reason: Option<String>,
    }
}

shape! {
    /// The best task that is ready: dependencies done, scope free, not given to somebody else by a plan; by priority and then
    /// in the order added. Whoever is bound to a task is offered no other. Nothing is claimed by looking.
    pub closed struct NextTask {
        /// The run; the only open one, if it is not named.
        pub run_id: Option<RunId>,
    }
}

impl View for NextTask {
    const INFO: ViewInfo =
        ViewInfo { id: "task.next", summary: "The best task that is ready and free; looking claims nothing" };
    type Shown = NextShown;

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let run = self.run_id.as_ref();
        match &moment.bound {
            Some(task) => choosing::needs_of(task, run, seen, moment.now_ms),
            None => choosing::needs(run, seen, moment.now_ms, &moment.actor),
        }
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<NextShown, Refusal> {
        let run = picking::open_run(self.run_id.as_ref(), seen)?;
        let (now, actor) = (moment.now_ms, &moment.actor);
        let offered = match &moment.bound {
            Some(task) => choosing::only(task, &run, seen, now, actor),
            None => choosing::chosen(&run, seen, now, actor).ok_or_else(|| choosing::nothing(&run, seen, actor).reason),
        };
        Ok(match offered {
            Ok(task) => {
                let version = seen.so_far(&task.key()).map_or(0, |found| found.seq);
                NextShown { task: Some(brief(&task, version, seen)), reason: None }
            }
            Err(reason) => NextShown { task: None, reason: Some(reason) },
        })
    }
}
