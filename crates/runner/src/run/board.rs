//! The tasks of a run as they stand, and which is to be begun next.

use super::desk::Desk;
use super::works::Works;
use crate::agent::Stop;
use countersign_domain::plan::order::collide;
use countersign_domain::plan::payload::{Plan, PlannedTask};
use countersign_domain::work::row::TaskRow;
use countersign_domain::work::task_state::TaskStatus;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a task rests that could not be claimed just now.
const REST: Duration = Duration::from_secs(1);

/// How far a task has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for others, or to be begun.
    Todo,
    /// Somebody works on it.
    InProgress,
    /// It waits for a person.
    Blocked,
    /// It is done.
    Done,
    /// It was given up.
    Failed,
    /// It is not wanted any more.
    Canceled,
}

impl State {
    fn of(word: &str) -> Self {
        match word {
            "in_progress" => Self::InProgress,
            "blocked" => Self::Blocked,
            "done" => Self::Done,
            "failed" => Self::Failed,
            "canceled" => Self::Canceled,
            _ => Self::Todo,
        }
    }

    /// Whether nothing changes any more.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Canceled)
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// A task as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id.
    pub task: String,
    /// One line.
    pub title: String,
    /// Who does it.
    pub agent: String,
    /// How far it has come.
    pub state: State,
    /// How sure it is that it is done.
    pub assurance: Option<String>,
    /// What keeps it from going on.
    pub blocker: Option<String>,
    /// Why it is not done; none, if it is.
    pub why: Option<String>,
    /// How often somebody worked on it: to go on through its gates after a person has answered is no work.
    pub works: u64,
    /// Who has it, or had it last: sessions of a peer have names of their own, and a person may have taken it.
    owner: Option<String>,
    /// The lease under which it is worked on.
    lease: Option<u64>,
    waiting: bool,
    /// The tasks that it waits for.
    waiting_for: Vec<String>,
    /// Who canceled it, and why.
    canceled: Option<String>,
    /// Whether its work is done, and only has to go on through its gates.
    claimed: bool,
}

impl Row {
    fn take(&mut self, row: &TaskRow) {
        self.state = State::of(row.status.as_str());
        self.assurance = row.assurance.clone();
        self.blocker = row.blocker.as_ref().map(|it| format!("{}: {}", it.code, it.reason));
        self.owner.clone_from(&row.owner);
        self.lease = row.lease;
        self.waiting = !row.waiting_for.is_empty();
        self.waiting_for.clone_from(&row.waiting_for);
    }
}

/// What a run waits for that a peer does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Awaited {
    /// That it claims a task.
    Claim,
    /// That it brings a result: who has the task, the how manieth attempt that is, and under which lease.
    Result { owner: String, attempt: u64, lease: u64 },
}

/// All tasks, in the order of the plan.
pub(super) struct Board {
    rows: Vec<Row>,
    numbers: BTreeMap<String, usize>,
    running: Vec<bool>,
    /// The leases of those that are running, and what asks who works under them to stop.
    held: Vec<Option<(u64, Stop)>>,
    rests: Vec<Option<Instant>>,
    /// How often somebody had worked on a task that is running when it was picked, if that is to be done once more.
    picked: Vec<Option<u64>>,
    /// The attempts at each task.
    works: Vec<Works>,
    /// Whether two tasks want the same thing.
    collides: Vec<Vec<usize>>,
    peers: Vec<bool>,
    /// What was last said of whom a task of a peer waits for.
    told: Vec<Option<Awaited>>,
    /// The tasks that only wait for somebody, so that others may be begun beside them.
    aside: Vec<bool>,
    /// Why a task could not be begun the last time.
    refused: Vec<Option<String>>,
    order: Vec<usize>,
    /// The last event that the rows know of.
    seen: u64,
}

impl Board {
    pub(super) fn new(plan: &Plan) -> Self {
        let tasks: &[PlannedTask] = &plan.tasks;
        let row = |task: &PlannedTask| Row {
            task: task.id.as_str().to_owned(),
            title: task.title.as_str().to_owned(),
            agent: task.who().to_owned(),
            state: State::Todo,
            assurance: None,
            blocker: None,
            why: None,
            works: 0,
            owner: None,
            lease: None,
            waiting: true,
            waiting_for: Vec::new(),
            canceled: None,
            claimed: false,
        };
        let collides =
            |one: &PlannedTask| (0..tasks.len()).filter(|other| collide(one, &tasks[*other])).collect::<Vec<_>>();
        let is_peer = |task: &PlannedTask| {
            plan.agents.iter().any(|(name, agent)| name == task.agent.as_str() && agent.peer == Some(true))
        };
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|task| std::cmp::Reverse(tasks[*task].urgency()));
        Self {
            rows: tasks.iter().map(row).collect(),
            numbers: tasks.iter().enumerate().map(|(n, task)| (task.id.as_str().to_owned(), n)).collect(),
            running: vec![false; tasks.len()],
            held: vec![None; tasks.len()],
            rests: vec![None; tasks.len()],
            picked: vec![None; tasks.len()],
            works: vec![Works::default(); tasks.len()],
            refused: vec![None; tasks.len()],
            collides: tasks.iter().map(collides).collect(),
            peers: tasks.iter().map(is_peer).collect(),
            told: vec![None; tasks.len()],
            aside: vec![false; tasks.len()],
            order,
            seen: 0,
        }
    }

    /// Reads what has changed since it was last looked: all of it at first, then what events speak of.
    pub(super) fn catch_up(&mut self, desk: &Desk<'_>) -> Result<(), String> {
        let head = desk.head()?;
        let first = if self.seen == 0 { desk.opened()? } else { self.seen + 1 };
        let (works, numbers, peers) = (&mut self.works, &self.numbers, &self.peers);
        let mut changed = desk.changed(first, head, |event, task| {
            if let Some(n) = numbers.get(task) {
                works[*n].note(event, peers[*n]);
            }
        })?;
        if self.seen == 0 {
            changed.extend(self.numbers.keys().cloned());
        }
        for task in changed {
            let Some(n) = self.numbers.get(&task).copied() else { continue };
            if let Some(row) = desk.row(&task)? {
                self.rows[n].take(&row);
                self.rows[n].works = self.works[n].all();
                self.rows[n].claimed = row.status == TaskStatus::Todo && desk.claim(&task)?.is_some();
                if row.status == TaskStatus::Canceled {
                    self.rows[n].canceled = desk.canceled(&row)?;
                }
            }
        }
        self.seen = head;
        Ok(())
    }

    /// The best task that can be begun, which is then running. The first of the plan among those that are as urgent.
    /// None beyond the attempts that are allowed; what a peer has begun was counted when it began.
    pub(super) fn pick(&mut self, concurrency: usize, attempts: Option<u64>) -> Option<usize> {
        if self.running.iter().zip(&self.aside).filter(|(running, aside)| **running && !**aside).count() >= concurrency
        {
            return None;
        }
        let now = Instant::now();
        let may_begin = attempts.is_none_or(|limit| self.attempts() < limit);
        let open =
            |task: &usize| (may_begin || self.peers[*task] || self.rows[*task].claimed) && self.can_begin(*task, now);
        let found = self.order.iter().copied().find(open)?;
        self.running[found] = true;
        let works = !self.peers[found] && !self.rows[found].claimed;
        self.picked[found] = works.then(|| self.works[found].all());
        Some(found)
    }

    fn can_begin(&self, task: usize, now: Instant) -> bool {
        let row = &self.rows[task];
        let open = if self.peers[task] {
            // It claims tasks itself; what it brought goes through the gates here, also after a person has answered.
            row.state == State::InProgress || (row.state == State::Todo && !row.waiting && row.claimed)
        } else {
            row.state == State::Todo && !row.waiting
        };
        open && !self.running[task]
            && self.rests[task].is_none_or(|until| until <= now)
            && !self.collides[task].iter().any(|other| *other != task && self.running[*other])
    }

    /// A task is not running any more; it rests for a while if it could not be begun.
    pub(super) fn back(&mut self, task: usize, begun: bool) {
        self.running[task] = false;
        self.held[task] = None;
        self.aside[task] = false;
        self.picked[task] = None;
        self.rests[task] = (!begun).then(|| Instant::now() + REST);
    }

    /// A running task is worked on under a lease, by those whom this asks to stop.
    pub(super) fn hold(&mut self, task: usize, lease: u64, stop: Stop) {
        self.held[task] = Some((lease, stop));
    }

    /// Asks everybody to stop whose task is not theirs any more: it was canceled, or somebody took it away. What they would
    /// still bring is refused, and where they work others may by now.
    pub(super) fn call_off(&self) {
        for (row, held) in self.rows.iter().zip(&self.held) {
            // A lease has the number of the event that granted it: before that was read, the row knows nothing of it.
            let lost = |(lease, _): &&(u64, Stop)| *lease <= self.seen && row.lease != Some(*lease);
            if let Some((_, stop)) = held.as_ref().filter(lost).filter(|_| row.state != State::Done) {
                stop.stop();
            }
        }
    }

    /// Whether this is another reason than the last one for which a task could not be begun.
    pub(super) fn is_news(&mut self, task: usize, reason: &str) -> bool {
        let last = &mut self.refused[task];
        let is_news = last.as_deref() != Some(reason);
        *last = Some(reason.to_owned());
        is_news
    }

    /// Says of a running task whether it only waits for somebody: then it takes nobody's place.
    pub(super) fn set_aside(&mut self, task: usize, aside: bool) {
        self.aside[task] = aside;
    }

    /// What is awaited of peers, as far as that has changed since it was last asked for: each task with who does it.
    pub(super) fn awaited(&mut self) -> Vec<(String, String, Awaited)> {
        let mut news = Vec::new();
        for (n, row) in self.rows.iter().enumerate().filter(|(n, _)| self.peers[*n] && !self.running[*n]) {
            let now = match (row.state, row.lease) {
                (State::Todo, _) if !row.waiting && !row.claimed => Some(Awaited::Claim),
                (State::InProgress, Some(lease)) => {
                    let owner = row.owner.clone().unwrap_or_else(|| row.agent.clone());
                    Some(Awaited::Result { owner, attempt: row.works, lease })
                }
                _ => None,
            };
            if self.told[n] != now {
                news.extend(now.clone().map(|now| (row.task.clone(), row.agent.clone(), now)));
                self.told[n] = now;
            }
        }
        news
    }

    /// How many are running.
    pub(super) fn running(&self) -> usize {
        self.running.iter().filter(|running| **running).count()
    }

    /// Whether every task has come to its end.
    pub(super) fn is_finished(&self) -> bool {
        self.rows.iter().all(|row| row.state.is_final())
    }

    /// Whether something can happen without a person: something runs, can be begun, or is worked on by others.
    pub(super) fn has_hope(&self) -> bool {
        self.running() > 0
            || self.rows.iter().any(|row| match row.state {
                State::Todo => !row.waiting,
                State::InProgress => true,
                _ => false,
            })
    }

    /// Whether all that is left waits for tasks that were canceled or given up: no person is asked about it, and so nobody who
    /// answers could help it on.
    pub(super) fn is_stuck(&self) -> bool {
        !self.is_finished() && !self.has_hope() && self.waiting().is_empty()
    }

    /// Whether a task would be begun for the first time or anew.
    pub(super) fn would_begin(&self) -> bool {
        self.rows.iter().any(|row| row.state == State::Todo && !row.waiting)
    }

    /// What waits for a person.
    pub(super) fn waiting(&self) -> Vec<String> {
        self.rows.iter().filter(|row| row.state == State::Blocked).map(|row| row.task.clone()).collect()
    }

    /// How often somebody has worked on a task, or is about to: one that was picked counts, even if the ledger does not say so
    /// yet. One that was cut short because the runner was stopped or gone does not.
    pub(super) fn attempts(&self) -> u64 {
        let begun = |(works, picked): (&Works, &Option<u64>)| {
            works.counted() + u64::from(picked.is_some_and(|was| works.all() == was))
        };
        self.works.iter().zip(&self.picked).map(begun).sum()
    }

    /// How often somebody has worked on a task so far.
    pub(super) fn works(&self, task: usize) -> u64 {
        self.works[task].all()
    }

    /// The tasks as they stand, each with the reason why it is not done.
    pub(super) fn rows(&self) -> Vec<Row> {
        self.rows.iter().enumerate().map(|(n, row)| Row { why: self.why(n, row), ..row.clone() }).collect()
    }

    fn why(&self, n: usize, row: &Row) -> Option<String> {
        match row.state {
            State::Done => None,
            State::Canceled => Some(row.canceled.clone().unwrap_or_else(|| "somebody canceled it".to_owned())),
            State::Blocked | State::Failed => {
                Some(row.blocker.clone().unwrap_or_else(|| "nobody said what is wrong".to_owned()))
            }
            State::InProgress => {
                let owner = row.owner.as_deref().unwrap_or(&row.agent);
                Some(format!("{owner} has begun it and has not ended it"))
            }
            State::Todo if row.waiting => Some(self.waits(row)),
            State::Todo if row.claimed => Some("it is claimed, and has to go on through its gates".to_owned()),
            State::Todo if row.works > 0 => {
                Some(format!("it was begun {} without coming to its end, and is to be begun again", times(row.works)))
            }
            State::Todo => Some(match &self.refused[n] {
                Some(reason) => format!("it could not be begun: {reason}"),
                None if self.peers[n] => format!("{}, a peer, has not claimed it", row.agent),
                None => "it was not begun".to_owned(),
            }),
        }
    }

    /// Which tasks it waits for, and how they stand.
    fn waits(&self, row: &Row) -> String {
        let stands = |task: &String| match self.numbers.get(task) {
            Some(n) => format!("{task}, which is {}", self.rows[*n].state.as_str().replace('_', " ")),
            None => task.clone(),
        };
        let on: Vec<String> = row.waiting_for.iter().map(stands).collect();
        let way = if self.is_lost(row) {
            format!(
                ", and so can never begin; end it with `countersign task cancel {0} --reason TEXT`, or let it depend on \
                 others with `countersign task replan {0} --after TASK --reason TEXT`",
                row.task
            )
        } else {
            String::new()
        };
        format!("it waits for {}{way}", on.join(", and for "))
    }

    /// Whether a task waits for one that will never be done.
    fn is_lost(&self, row: &Row) -> bool {
        let on = row.waiting_for.iter().filter_map(|task| self.numbers.get(task)).map(|n| &self.rows[*n]);
        on.into_iter().any(|it| it.state.is_final() || (it.state == State::Todo && self.is_lost(it)))
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
