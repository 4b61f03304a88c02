//! Who holds what, and who may change what.

use super::cursor::{self, PAGE, PAGE_MAX};
use crate::deciding::{Hit, Moment, Need, Range, Refusal, Seen, Tree, View, ViewInfo};
use crate::work::holding::{self, Holder};
use crate::work::indexes;
use crate::work::payload::Resource;
use crate::work::picking::said;
use crate::work::places::Placed;
use crate::work::row::{TaskRow, task_of};
use crate::work::scope::{RESERVED, contains};
use countersign_contract::diagnostic::Code;
use countersign_contract::{Int, List, Name, shape, show};

/// How many tasks of one worker are named to them.
const OWN_MAX: usize = 100;
/// How many tasks are looked at that share a log, beside those of the worker. Nearly always there is one.
const LOGS_MAX: usize = 32;

shape! {
    /// A path that is held.
    pub struct LockShown {
        /// The path.
        pub path: String,
        /// The run.
        pub run_id: String,
        /// The task that holds it.
        pub task_id: String,
        /// Who works on that.
        pub owner: String,
        /// The number of the lease.
        pub lease: Option<Int>,
        /// When that lapses without a sign of life.
        pub expires_at: Option<String>,
        /// The last sign of life.
        pub last_heartbeat_at: Option<String>,
    }
}

fn lock(task: &TaskRow, path: &str, seen: &Seen) -> LockShown {
    let name = task.lease_name();
    let hold = if seen.has(&Need::Lease(name.clone())) { seen.lease(&name) } else { None };
    LockShown {
        path: path.to_owned(),
        run_id: task.run.clone(),
        task_id: task.task.clone(),
        owner: task.owner.clone().unwrap_or_default(),
        lease: task.lease.map(Int::from),
        expires_at: hold.map(|hold| said(hold.deadline)),
        last_heartbeat_at: hold.map(|hold| said(hold.beat)),
    }
}

/// The lock that is found at a place of the index.
fn lock_at((at, key): &Hit, seen: &Seen) -> Option<LockShown> {
    let task = task_of(seen.entity(key))?;
    let path = task.spec.lock_scope.iter().find(|path| indexes::is_at(path, at))?;
    Some(lock(&task, path, seen))
}

/// How many items a page has.
fn count(limit: Option<Int<1, PAGE_MAX>>) -> usize {
    limit.map_or(PAGE, |limit| usize::try_from(limit.get()).unwrap_or(PAGE))
}

/// Where the page after a stretch begins.
fn next(range: &Range, seen: &Seen) -> Option<String> {
    let last = seen.range(range).last().filter(|_| seen.rest(range).is_some());
    last.map(|(at, _)| cursor::write(at))
}

/// The place of a path, if it is one: what cannot be used would pass for the whole tree.
fn place(path: &Resource) -> Result<&str, Refusal> {
    if path.is_usable() {
        return Ok(path.place());
    }
    let reason = format!("`{}` is no path below the project's root", show(path.as_str()));
    Err(Refusal::new(Code::SchemaInvalid, reason, "give it relative to the project, with `/` between its segments"))
}

pub(super) fn with_tasks(range: Range, seen: &Seen) -> Vec<Need> {
    let mut needs = Vec::new();
    for (_, key) in seen.range_so_far(&range).into_iter().flatten() {
        needs.push(Need::Entity(key.clone()));
        needs.push(Need::Lease(key.id.to_string()));
    }
    needs.push(Need::Range(range));
    needs
}

shape! {
    /// Who holds a path.
    pub struct WhoShown {
        /// The path, in normal form.
        pub path: String,
        /// The locks that overlap it, by path; none, if it is free.
        pub holders: List<LockShown>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// Who holds a path, something above it or something inside of it.
    pub closed struct WhoHolds {
        /// The path, relative to the project.
        pub path: Resource = "src/money/round.rs",
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl WhoHolds {
    /// What is above the path, which comes first by path, and what is inside of it.
    fn ranges(&self) -> Vec<Range> {
        let inside = indexes::locks_inside(self.path.place(), count(self.limit));
        let all = indexes::locks_above(self.path.place()).into_iter().rev().chain([inside]);
        match cursor::place(self.cursor.as_deref()) {
            Some(after) => all.map(|range| range.after(&after)).collect(),
            None => all.collect(),
        }
    }
}

impl View for WhoHolds {
    const INFO: ViewInfo =
        ViewInfo { id: "lock.who", summary: "Who holds a path, something above it or something inside of it" };
    type Shown = WhoShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        self.ranges().into_iter().flat_map(|range| with_tasks(range, seen)).collect()
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<WhoShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let path = place(&self.path)?.to_owned();
        let (ranges, limit) = (self.ranges(), count(self.limit));
        let hits: Vec<&Hit> = ranges.iter().flat_map(|range| seen.range(range)).collect();
        let more = hits.len() > limit || ranges.iter().any(|range| seen.rest(range).is_some());
        let hits = hits.get(..limit).unwrap_or(&hits);
        let next = hits.last().filter(|_| more).map(|(at, _)| cursor::write(at));
        let holders: Vec<LockShown> = hits.iter().filter_map(|hit| lock_at(hit, seen)).collect();
        Ok(WhoShown { path, holders: holders.into(), next })
    }
}

shape! {
    /// Locks that are held.
    pub struct LocksShown {
        /// The locks, by path.
        pub locks: List<LockShown>,
        /// Where the next page begins; absent at the end.
        pub next: Option<String>,
    }
}

shape! {
    /// Every lock that is held, by path.
    pub closed struct ListLocks {
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl ListLocks {
    fn range(&self) -> Range {
        indexes::locks(cursor::place(self.cursor.as_deref()).as_deref(), count(self.limit))
    }
}

impl View for ListLocks {
    const INFO: ViewInfo = ViewInfo { id: "lock.list", summary: "Every lock that is held, by path" };
    type Shown = LocksShown;

    fn needs(&self, seen: &Seen, _: &Moment) -> Vec<Need> {
        with_tasks(self.range(), seen)
    }

    fn render(&self, seen: &Seen, _: &Moment, _: Option<&Tree>) -> Result<LocksShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let range = self.range();
        let locks: Vec<LockShown> = seen.range(&range).filter_map(|hit| lock_at(hit, seen)).collect();
        Ok(LocksShown { locks: locks.into(), next: next(&range, seen) })
    }
}

shape! {
    /// What somebody holds.
    pub closed struct MyLocks {
        /// Whose; the caller's own, if it is not said.
        pub owner: Option<Name>,
        /// Where the page begins: `next` of the page before.
        pub cursor: Option<String>,
        /// How many tasks, each with all that it holds; 100, if it is not said.
        pub limit: Option<Int<1, PAGE_MAX>>,
    }
}

impl MyLocks {
    fn range(&self, moment: &Moment) -> Range {
        let owner = self.owner.as_ref().map_or(moment.actor.as_str(), |owner| owner.as_str());
        indexes::held_by(owner, cursor::place(self.cursor.as_deref()).as_deref(), count(self.limit))
    }
}

impl View for MyLocks {
    const INFO: ViewInfo = ViewInfo { id: "lock.mine", summary: "What somebody holds" };
    type Shown = LocksShown;

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        with_tasks(self.range(moment), seen)
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<LocksShown, Refusal> {
        cursor::read(self.cursor.as_deref())?;
        let range = self.range(moment);
        let tasks = seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key)));
        let locks =
            tasks.flat_map(|task| task.spec.lock_scope.iter().map(|path| lock(&task, path, seen)).collect::<Vec<_>>());
        Ok(LocksShown { locks: locks.collect::<Vec<_>>().into(), next: next(&range, seen) })
    }
}

shape! {
    /// Whether somebody may change a path.
    pub struct MayShown {
        /// The path, in normal form.
        pub path: String,
        /// Whether they may.
        pub allowed: bool,
        /// What a refusal is filed under.
        pub code: Option<String>,
        /// Why, or why not.
        pub reason: String,
        /// What to do instead.
        pub help: Option<String>,
        /// The task under which they may, or which is in the way.
        pub task_id: Option<String>,
        /// Its run.
        pub run_id: Option<String>,
        /// Who holds it, if that is somebody else.
        pub holder: Option<String>,
        /// Until when.
        pub expires_at: Option<String>,
        /// Whether the project has a run that is open.
        pub managed: bool,
    }
}

shape! {
    /// Whether the caller may change a path now, and why not.
    pub closed struct MayChange {
        /// The path, relative to the project.
        pub path: Resource = "src/money/round.rs",
        /// Who; the caller, if it is not said.
        pub owner: Option<Name>,
    }
}

impl MayShown {
    /// The same, because of a task.
    fn of(self, task: &TaskRow) -> Self {
        Self { run_id: Some(task.run.clone()), task_id: Some(task.task.clone()), ..self }
    }
}

impl MayChange {
    fn owner<'a>(&'a self, moment: &'a Moment) -> &'a str {
        self.owner.as_ref().map_or(moment.actor.as_str(), |owner| owner.as_str())
    }

    /// What they work on, to be named if the path is none of it.
    fn held(&self, moment: &Moment) -> Range {
        indexes::held_by(self.owner(moment), None, OWN_MAX)
    }

    /// The tasks that keep their log there.
    fn logs(&self) -> Range {
        indexes::areas_at_work(self.path.place(), LOGS_MAX)
    }

    fn shown(&self, allowed: bool, code: Option<Code>, reason: impl Into<String>, help: Option<&str>) -> MayShown {
        MayShown {
            path: self.path.place().to_owned(),
            allowed,
            code: code.map(|code| code.as_str().to_owned()),
            reason: reason.into(),
            help: help.map(str::to_owned),
            run_id: None,
            task_id: None,
            holder: None,
            expires_at: None,
            managed: true,
        }
    }
}

impl View for MayChange {
    const INFO: ViewInfo =
        ViewInfo { id: "lock.may", summary: "Whether the caller may change a path now, and why not" };
    type Shown = MayShown;

    fn needs(&self, seen: &Seen, moment: &Moment) -> Vec<Need> {
        let mut needs = with_tasks(self.held(moment), seen);
        needs.push(Need::Range(indexes::open_runs()));
        needs.extend(holding::needs_at([self.path.place()], None, seen, moment.now_ms));
        needs.extend(with_tasks(self.logs(), seen));
        needs
    }

    fn render(&self, seen: &Seen, moment: &Moment, _: Option<&Tree>) -> Result<MayShown, Refusal> {
        let (path, now) = (place(&self.path)?, moment.now_ms);
        if contains(RESERVED, path) {
            let help = "what is in there is written by `countersign` alone";
            let reason = format!("`{RESERVED}` belongs to the ledger");
            return Ok(self.shown(false, Some(Code::ScopeViolation), reason, Some(help)));
        }
        let owner = self.owner(moment);
        let others = holding::others([path], None, seen, now);
        let is_own = |task: &TaskRow| task.owner.as_deref() == Some(owner);
        let (own, others): (Vec<Holder>, Vec<Holder>) = others.alive.into_iter().partition(|it| is_own(&it.task));
        let forbidden = |task: &TaskRow| task.spec.forbidden_scope.iter().find(|scope| contains(scope, path)).cloned();
        for Holder { task, .. } in &own {
            let inside = task.spec.lock_scope.iter().any(|scope| contains(scope, path));
            if inside && forbidden(task).is_none() {
                let reason = format!("{} holds it", task.task);
                return Ok(self.shown(true, None, reason, None).of(task));
            }
        }
        let is_alive = |task: &TaskRow| seen.lease(&task.lease_name()).is_some_and(|hold| hold.deadline > now);
        let tasks = |range: Range| -> Vec<TaskRow> {
            seen.range(&range).filter_map(|(_, key)| task_of(seen.entity(key))).filter(is_alive).collect()
        };
        let held = tasks(self.held(moment));
        let logs = tasks(self.logs()).into_iter().filter(is_own);
        let log = logs.chain(held.iter().cloned()).find(|task| holding::keeps_log_at(task, path));
        // A log is no lock: it opens nothing that somebody else holds.
        if let Some(task) = log.filter(|_| others.is_empty()) {
            let reason = format!("{} keeps its log there", task.task);
            return Ok(self.shown(true, None, reason, None).of(&task));
        }
        if let Some(holder) = others.first() {
            let help = "wait until that task is done; `countersign lock who` tells how it stands";
            let shown = self.shown(false, Some(Code::LockConflict), holder.sentence(), Some(help));
            return Ok(MayShown {
                holder: holder.task.owner.clone(),
                expires_at: holder.hold.as_ref().map(|hold| said(hold.deadline)),
                ..shown.of(&holder.task)
            });
        }
        if let Some((task, scope)) = held.iter().find_map(|task| Some((task, forbidden(task)?))) {
            let reason = format!("`{}` is in the forbidden scope of {}", show(&scope), task.task);
            let help = "leave it as it is; if the task needs it, say so with `countersign task block`";
            let shown = self.shown(false, Some(Code::ScopeViolation), reason, Some(help));
            return Ok(shown.of(task));
        }
        if let Some(task) = held.first() {
            let names: Vec<&str> = held.iter().map(|task| task.task.as_str()).collect();
            let scopes: Vec<String> =
                held.iter().flat_map(|task| &task.spec.lock_scope).map(|scope| format!("`{}`", show(scope))).collect();
            let more = if seen.rest(&self.held(moment)).is_some() { ", and of the other tasks held" } else { "" };
            let reason =
                format!("it is outside the lock scope of {}, which is {}{more}", names.join(", "), scopes.join(", "));
            let help = "change only what the task holds; if it needs more, say so with `countersign task block`";
            let shown = self.shown(false, Some(Code::ScopeViolation), reason, Some(help));
            return Ok(shown.of(task));
        }
        if seen.range(&indexes::open_runs()).next().is_none() {
            let shown = self.shown(true, None, "no run is open", None);
            return Ok(MayShown { managed: false, ..shown });
        }
        let reason = match seen.rest(&self.held(moment)) {
            Some(_) => format!("it is outside the lock scope of every task that {} holds", show(owner)),
            None => format!("{} holds no task, and a run is open", show(owner)),
        };
        let help = "claim a task first: `countersign task next` shows the best one";
        Ok(self.shown(false, Some(Code::ScopeViolation), reason, Some(help)))
    }
}
