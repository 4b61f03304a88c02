//! A run as it is drawn on a terminal: its tasks with their gates and what they hold, and what was spent.

use crate::cli::words::{Table, cut, span, text};
use countersign_domain::plan::payload::{Budgets, Judge, Plan, PlannedTask};
use countersign_domain::work::places::Placed;
use countersign_runner::run::{Note, Spent};
use serde_json::Value;
use std::time::{Duration, Instant};

/// How wide what stands now may be, and what is held.
const NOW_MAX: usize = 44;
const HELD_MAX: usize = 28;

/// How far a gate is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Nobody is there yet.
    Ahead,
    /// Somebody is.
    Here,
    /// It was passed.
    Passed,
    /// It was not.
    Shut,
    /// There is none.
    Absent,
}

impl Gate {
    fn letter(self) -> char {
        match self {
            Gate::Ahead => '·',
            Gate::Here => '…',
            Gate::Passed => '✓',
            Gate::Shut => '✗',
            Gate::Absent => '–',
        }
    }
}

/// A task as it is drawn.
pub struct Drawn {
    task: String,
    title: String,
    agent: String,
    scope: String,
    holds: bool,
    /// Promise, validation, judge.
    gates: [Gate; 3],
    now: String,
    since: Option<Instant>,
    attempt: u64,
}

impl Drawn {
    /// A task that nobody has begun.
    pub fn new(plan: &Plan, task: &PlannedTask) -> Self {
        let judge = plan.gates.as_ref().and_then(|gates| gates.judge.as_ref());
        let judged = judge.is_some_and(|judge| !matches!(judge, Judge::Named(name) if name.as_str() == "none"));
        let last = if judged { Gate::Ahead } else { Gate::Absent };
        // An action on a platform has an answer, and no gates.
        let gates = if task.is_delegate() { [Gate::Absent; 3] } else { [Gate::Ahead, Gate::Ahead, last] };
        let scope: Vec<&str> = task.lock_scope.iter().map(|path| path.place()).collect();
        Self {
            task: task.id.as_str().to_owned(),
            title: task.title.as_str().to_owned(),
            agent: task.who().to_owned(),
            scope: scope.join(", "),
            holds: false,
            gates,
            now: "waits".to_owned(),
            since: None,
            attempt: 0,
        }
    }

    /// Whether it is this task.
    pub fn is(&self, task: &str) -> bool {
        self.task == task
    }

    /// Takes note of how it stood when an earlier runner ended, and for how long.
    pub fn take_up(&mut self, task: &Value, since: Option<Duration>) {
        self.attempt = task["attempt"].as_u64().unwrap_or(0);
        let [status, assurance, blocker] = ["status", "assurance", "blocker"].map(|name| text(task, name));
        self.now = match status.as_str() {
            "done" => {
                self.all_gates(Gate::Passed);
                format!("done ({assurance})")
            }
            "blocked" => format!("waits for a person: {blocker}"),
            "failed" | "canceled" => status,
            // Whoever worked on it is gone, and it is begun again.
            _ => return,
        };
        self.since = since.and_then(|since| Instant::now().checked_sub(since));
    }

    /// Takes note of where it stands.
    pub fn stands(&mut self, now: String) {
        self.now = now;
        self.since = Some(Instant::now());
    }

    /// Takes note of what happened to its gates and to what it holds.
    pub fn follow(&mut self, note: &Note<'_>) {
        match note {
            Note::Begun { attempt, .. } => {
                self.attempt = *attempt;
                self.holds = true;
                self.all_gates(Gate::Ahead);
                self.gate(0, Gate::Here);
            }
            Note::Claimed { .. } => {
                self.gate(0, Gate::Passed);
                self.gate(1, Gate::Here);
            }
            Note::Validated { verdict: "PASS", .. } => {
                self.gate(1, Gate::Passed);
                self.gate(2, Gate::Here);
            }
            // Who left something to others has shut nothing.
            Note::Validated { verdict: "FAIL" | "PARTIAL", only: [], .. } => self.gate(1, Gate::Shut),
            Note::Judged { verdict, .. } => {
                self.gate(2, if *verdict == "FAIL" { Gate::Shut } else { Gate::Passed });
            }
            Note::Done { .. } => {
                self.holds = false;
                self.all_gates(Gate::Passed);
            }
            Note::Again { .. } | Note::Stopped { .. } => self.holds = false,
            _ => {}
        }
    }

    fn gate(&mut self, at: usize, gate: Gate) {
        if let Some(it) = self.gates.get_mut(at).filter(|it| **it != Gate::Absent) {
            *it = gate;
        }
    }

    fn all_gates(&mut self, gate: Gate) {
        (0..self.gates.len()).for_each(|at| self.gate(at, gate));
    }
}

/// The tasks as a table. Gates are promise, validation and judge.
pub fn table(tasks: &[Drawn]) -> Table {
    let mut table = Table::new(["TASK", "AGENT", "GATES", "NOW", "FOR", "ATTEMPT", "HOLDS", "TITLE"]);
    for task in tasks {
        let elapsed = task.since.map_or_else(String::new, |since| span(seconds(since.elapsed())));
        let attempt = if task.attempt > 0 { task.attempt.to_string() } else { String::new() };
        let gates: String = task.gates.iter().map(|gate| gate.letter()).collect();
        let holds = if task.holds { cut(&task.scope, Some(HELD_MAX)) } else { String::new() };
        let now = cut(&task.now, Some(NOW_MAX));
        let (name, agent, title) = (task.task.clone(), task.agent.clone(), task.title.clone());
        table.row([name, agent, gates, now, elapsed, attempt, holds, title]);
    }
    table
}

/// What was spent, and of how much.
pub fn spent(spent: &Spent, budgets: Option<&Budgets>) -> String {
    let of = |limit: Option<String>| limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let wall = budgets.and_then(|it| it.wall_time.as_ref()).map(|wall| wall.as_str().to_owned());
    let attempts = budgets.and_then(|it| it.attempts.as_ref()).map(|limit| limit.get().to_string());
    let tokens = budgets.and_then(|it| it.tokens.as_ref()).map(|limit| limit.get().to_string());
    let money = budgets.and_then(|it| it.money).map(|limit| format!("${limit:.2}"));
    let mut parts = vec![
        format!("{}{}", span(seconds(spent.elapsed)), of(wall)),
        format!("{}{} attempts", spent.attempts, of(attempts)),
    ];
    if spent.tokens > 0 || tokens.is_some() {
        parts.push(format!("{}{} tokens", spent.tokens, of(tokens)));
    }
    if spent.usd > 0.0 || money.is_some() {
        parts.push(format!("${:.2}{}", spent.usd, of(money)));
    }
    parts.join(" · ")
}

/// Whole seconds.
pub fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or(i64::MAX)
}
