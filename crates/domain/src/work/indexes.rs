//! Where runs and tasks are found: every list and every lock question is a stretch of one of these.
//!
//! | index | place | answers |
//! |---|---|---|
//! | `run_open` | order | which runs are open |
//! | `run_all` | order, newest first | all runs |
//! | `task_by_run` | run, order | the tasks of a run |
//! | `unfinished` | run, order | the tasks of a run that are not done, failed or canceled |
//! | `ready` | run, agent, peer or not, priority, order | what can be begun by somebody, best first |
//! | `dependents` | run, dependency, order | what waits for a task |
//! | `held_by` | worker | what somebody works on |
//! | `lock_path` | segments of the path | who holds a path |
//! | `area` | segments of the path, last event, order | whose work a path may be, newest first |
//! | `worklog` | run, task, order | the lines of a worklog |
//! | `inbox` | order | what waits for a person |

use super::row::{RunRow, TaskRow};
use super::scope::{normal, segments};
use super::task_state::TaskStatus;
use crate::deciding::{Place, Range};
use serde_json::Value;

const RUN_OPEN: &str = "run_open";
const RUN_ALL: &str = "run_all";
const TASK_BY_RUN: &str = "task_by_run";
const UNFINISHED: &str = "unfinished";
const READY: &str = "ready";
const DEPENDENTS: &str = "dependents";
const HELD_BY: &str = "held_by";
const LOCK_PATH: &str = "lock_path";
const AREA: &str = "area";
const WORKLOG: &str = "worklog";
const INBOX: &str = "inbox";

/// The places of a run.
pub(super) fn of_run(run: &RunRow) -> Vec<Place> {
    let open = run.is_open().then(|| Place { index: RUN_OPEN, at: run.opened.to_be_bytes().to_vec() });
    // Newest first, as people want to see them.
    let all = Place { index: RUN_ALL, at: (u64::MAX - run.opened).to_be_bytes().to_vec() };
    open.into_iter().chain([all]).collect()
}

/// The places of a task.
pub(super) fn of_task(task: &TaskRow) -> Vec<Place> {
    let order = task.order.to_be_bytes();
    let mut places = vec![Place { index: TASK_BY_RUN, at: joined(&[task.run.as_bytes()], &order) }];
    if task.status == TaskStatus::Todo && task.waiting_for.is_empty() && !task.spec.led {
        let whose = Whose { agent: task.spec.agent.as_deref().unwrap_or_default(), peer: task.spec.peer };
        let at = [&whose.before(&task.run)[..], &[rank(&task.spec.priority)], &order].concat();
        places.push(Place { index: READY, at });
    }
    if !task.status.is_final() {
        places.push(Place { index: UNFINISHED, at: joined(&[task.run.as_bytes()], &order) });
        places.extend(task.waiting_for.iter().map(|dependency| {
            let at = joined(&[task.run.as_bytes(), dependency.as_bytes()], &order);
            Place { index: DEPENDENTS, at }
        }));
    }
    if let Some(blocker) = task.blocker.as_ref().filter(|it| it.escalated && task.status == TaskStatus::Blocked) {
        places.push(inbox_place(blocker.at));
    }
    let scope = || task.spec.lock_scope.iter().map(|path| steps(path));
    if task.status == TaskStatus::InProgress {
        places.extend(scope().map(|at| Place { index: LOCK_PATH, at }));
        let owner = task.owner.as_deref().unwrap_or_default();
        places.push(Place { index: HELD_BY, at: joined(&[owner.as_bytes()], &order) });
    }
    if !matches!(task.status, TaskStatus::Canceled | TaskStatus::Failed) {
        // Its log is its own work, wherever it lies.
        let log = normal(&task.spec.worklog_path).ok().filter(|log| !task.spec.lock_scope.iter().any(|it| it == log));
        let areas = scope().chain(log.map(|log| steps(&log)));
        places.extend(areas.map(|steps| Place { index: AREA, at: area(steps, worked_on(task), task.order) }));
    }
    places
}

/// The place of a line of a worklog.
pub(super) fn of_worklog(line: &Value) -> Vec<Place> {
    let (Some(run), Some(task), Some(seq)) = (line["run"].as_str(), line["task"].as_str(), line["seq"].as_u64()) else {
        return Vec::new();
    };
    vec![Place { index: WORKLOG, at: joined(&[run.as_bytes(), task.as_bytes()], &seq.to_be_bytes()) }]
}

/// Some parts, each with an end, and then bytes of a fixed length.
fn joined(parts: &[&[u8]], rest: &[u8]) -> Vec<u8> {
    let mut at = Vec::new();
    for part in parts {
        at.extend_from_slice(part);
        at.push(0);
    }
    at.extend_from_slice(rest);
    at
}

/// How soon: what comes first is less.
fn rank(priority: &str) -> u8 {
    match priority {
        "critical" => 0,
        "high" => 1,
        "low" => 3,
        _ => 2,
    }
}

/// A path as bytes whose order is that of its segments: what lies inside of it begins with them. The root has none.
fn steps(path: &str) -> Vec<u8> {
    let parts: Vec<&[u8]> = segments(path).map(str::as_bytes).collect();
    joined(&parts, &[])
}

/// Whether a path stands at a place of the index of locks.
pub fn is_at(path: &str, at: &[u8]) -> bool {
    steps(path) == at
}

/// The open runs: at most two are of interest, since one is used and two are too many.
pub fn open_runs() -> Range {
    Range::prefix(RUN_OPEN, &[], 2)
}

/// All runs, newest first, after a place.
pub fn runs(after: Option<&[u8]>, limit: usize) -> Range {
    page(RUN_ALL, &[], after, limit)
}

/// The tasks of a run in the order in which they were added, after a place.
pub fn tasks(run: &str, after: Option<&[u8]>, limit: usize) -> Range {
    page(TASK_BY_RUN, &joined(&[run.as_bytes()], &[]), after, limit)
}

/// The tasks of a run that are not finished.
pub fn unfinished(run: &str, limit: usize) -> Range {
    Range::prefix(UNFINISHED, &joined(&[run.as_bytes()], &[]), limit)
}

/// To whom a task is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whose<'a> {
    /// The agent that a plan names; empty, where it is for whoever comes.
    pub agent: &'a str,
    /// Whether that one takes its tasks itself.
    pub peer: bool,
}

impl Whose<'_> {
    /// What stands before the places of their tasks.
    fn before(&self, run: &str) -> Vec<u8> {
        let peer: &[u8] = if self.peer { b"peer" } else { b"" };
        joined(&[run.as_bytes(), self.agent.as_bytes(), peer], &[])
    }
}

/// What can be begun in a run by somebody, best first.
pub fn ready(run: &str, whose: Whose<'_>, limit: usize) -> Range {
    Range::prefix(READY, &whose.before(run), limit)
}

/// What can be begun in a run by anybody, by who that is.
pub fn ready_by_anybody(run: &str, limit: usize) -> Range {
    Range::prefix(READY, &joined(&[run.as_bytes()], &[]), limit)
}

/// How soon something is to be begun that was found there, whoever does it: what comes first is less.
pub fn how_soon(at: &[u8]) -> &[u8] {
    at.last_chunk::<9>().map_or(at, <[u8; 9]>::as_slice)
}

/// The agent to whom something is given that was found there; empty, if to none.
pub fn agent_at(run: &str, at: &[u8]) -> String {
    let agent = at.get(run.len() + 1..).unwrap_or_default().split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(agent).into_owned()
}

/// What waits for a task.
pub fn dependents(run: &str, task: &str, limit: usize) -> Range {
    Range::prefix(DEPENDENTS, &joined(&[run.as_bytes(), task.as_bytes()], &[]), limit)
}

/// What somebody works on, after a place.
pub fn held_by(worker: &str, after: Option<&[u8]>, limit: usize) -> Range {
    page(HELD_BY, &joined(&[worker.as_bytes()], &[]), after, limit)
}

/// The lines of a worklog, after a place.
pub fn worklog(run: &str, task: &str, after: Option<&[u8]>, limit: usize) -> Range {
    page(WORKLOG, &joined(&[run.as_bytes(), task.as_bytes()], &[]), after, limit)
}

/// What waits for a person, oldest first, after a place.
pub fn inbox(after: Option<&[u8]>, limit: usize) -> Range {
    page(INBOX, &[], after, limit)
}

/// The place of something that waits for a person, by the event since which it does.
pub(crate) fn inbox_place(since: u64) -> Place {
    Place { index: INBOX, at: since.to_be_bytes().to_vec() }
}

/// Every lock that is held.
pub fn locks(after: Option<&[u8]>, limit: usize) -> Range {
    page(LOCK_PATH, &[], after, limit)
}

/// Who holds something above a path: as many stretches as the path has segments.
pub fn locks_above(path: &str) -> Vec<Range> {
    // One task holds a path at a time.
    const HOLDERS_MAX: usize = 2;
    let at = steps(path);
    // The last is the path itself.
    let above = levels(&at).rev().skip(1);
    above.map(|end| Range::exactly(LOCK_PATH, &at[..end], HOLDERS_MAX)).collect()
}

/// Who holds a path or something inside of it, by path.
pub fn locks_inside(path: &str, limit: usize) -> Range {
    Range::prefix(LOCK_PATH, &steps(path), limit)
}

/// Whose work a path may be, or something above or inside of it, as far as that was worked on after an event: a stretch for
/// each segment, and two. Of what lies inside, [`is_since`] tells which was.
pub fn areas(path: &str, since: u64) -> Vec<Range> {
    const AREAS_MAX: usize = 32;
    let at = steps(path);
    let here = |end: usize| {
        let from = [&at[..end], &[0]].concat();
        let to = [&from[..], &newest_first(since)].concat();
        Range { index: AREA, from, to: Some(to), limit: AREAS_MAX }
    };
    let inside = Range::prefix(AREA, &at, AREAS_MAX);
    let inside = Range { from: [&at[..], &[1]].concat(), ..inside };
    levels(&at).map(here).chain([inside]).collect()
}

/// Who works at present on a task that names just this path: as a part of its scope, or for its log.
pub fn areas_at_work(path: &str, limit: usize) -> Range {
    let at_work = [&steps(path)[..], &[0], &newest_first(AT_WORK)].concat();
    Range::prefix(AREA, &at_work, limit)
}

/// Whether a task that was found at a place of the index of areas was worked on after an event.
pub fn is_since(at: &[u8], since: u64) -> bool {
    let last = at.last_chunk::<16>().and_then(|end| end.first_chunk::<8>());
    last.is_some_and(|last| *last < newest_first(since))
}

/// In place of the last event of a task, while it is worked on.
const AT_WORK: u64 = u64::MAX;

/// When a task was worked on last: at present, at its last event, or never.
fn worked_on(task: &TaskRow) -> u64 {
    match task.status {
        TaskStatus::InProgress => AT_WORK,
        _ if task.attempt == 0 => 0,
        _ => task.last,
    }
}

/// A place in the index of areas. No segment is empty, so that a path ends where one seems to be.
fn area(steps: Vec<u8>, last: u64, order: u64) -> Vec<u8> {
    [&steps[..], &[0], &newest_first(last), &order.to_be_bytes()].concat()
}

fn newest_first(seq: u64) -> [u8; 8] {
    (u64::MAX - seq).to_be_bytes()
}

/// Where the steps of a path end, from the root down to the path itself.
fn levels(at: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    let ends = at.iter().enumerate().filter(|(_, byte)| **byte == 0).map(|(end, _)| end + 1);
    std::iter::once(0).chain(ends)
}

fn page(index: &'static str, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Range {
    match after {
        Some(after) => Range::prefix_after(index, prefix, after, limit),
        None => Range::prefix(index, prefix, limit),
    }
}
