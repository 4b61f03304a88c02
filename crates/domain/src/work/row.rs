//! The rows of the operator ledger: runs and tasks as they stand.
//!
//! **Invariant:** the fields stand in the order of their names, so that writing a row is writing canonical JSON.

use super::task_state::TaskStatus;
use crate::deciding::{Found, Key, Row, Seen};
use countersign_contract::diagnostic::Code;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The policy of a run whose tasks are done by the worker's word.
pub const CLAIM: &str = "claim";
/// The policy of a run whose tasks are done only through gates.
pub const GATES: &str = "gates";

/// The status of a run in which work goes on.
pub const OPEN: &str = "open";

/// What a person is asked where something that was changed beside a run must be accepted.
pub const CONTENT: &str = "content";

/// What a task asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// Who works on it, where a plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The kinds of its pieces of context.
    pub context: Vec<String>,
    /// How many criteria it has.
    pub criteria: usize,
    /// The tasks that must be done before.
    pub dependencies: Vec<String>,
    /// What it may not change, in normal form.
    pub forbidden_scope: Vec<String>,
    /// How often its worker should give a sign of life.
    pub heartbeat_interval_seconds: i64,
    /// `serial` or `parallelizable`.
    pub kind: String,
    /// Whether nobody takes it but the process that carries the run out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub led: bool,
    /// What it may change, in normal form.
    pub lock_scope: Vec<String>,
    /// Whether its agent takes it itself; otherwise the process that carries the run out takes it for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub peer: bool,
    /// How soon.
    pub priority: String,
    /// How often one worker may try it again, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u32>,
    /// How long its worker may be silent.
    pub timeout_seconds: i64,
    /// One line.
    pub title: String,
    /// Where its worker keeps a log.
    pub worklog_path: String,
}

/// A task as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRow {
    /// The event that says what it asks for, and has the texts of that.
    pub asked: u64,
    /// How sure it is that it is done: `claimed` is the worker's word, `verified` went through every gate, `accepted` has
    /// failures that a person took upon themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assurance: Option<String>,
    /// How often it was begun.
    pub attempt: u32,
    /// The working tree when it was claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// Why it is blocked or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocker: Option<BlockerRow>,
    /// How often each of its owners failed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u32>,
    /// Whether it is done only through gates: a result is a claim, and no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gated: bool,
    /// The lease that lapsed last, and whose it was, until it is claimed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lapsed: Option<(u64, String)>,
    /// The leases that have lapsed: their owners were silent, and nobody took them away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lapses: Vec<u64>,
    /// The last event that is about it.
    #[serde(default)]
    pub last: u64,
    /// The leases whose results came too late and are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<u64>,
    /// The number of the lease under which it is worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<u64>,
    /// Who lost a lease of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_by: Vec<String>,
    /// The event that made it.
    pub order: u64,
    /// Who works on it, or did so last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The event that brought the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<u64>,
    /// How often it was given back because its runner was gone: that was no attempt of its worker's.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub returned: u32,
    /// Its run.
    pub run: String,
    /// What it asks for.
    pub spec: Spec,
    /// Its state.
    #[serde(serialize_with = "write_status", deserialize_with = "read_status")]
    pub status: TaskStatus,
    /// Its id in the run.
    pub task: String,
    /// How long its worker may be silent by now.
    pub timeout_seconds: i64,
    /// The dependencies that are not done.
    pub waiting_for: Vec<String>,
    /// How long its worklog is.
    #[serde(default)]
    pub worklog: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Why a task does not go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlockerRow {
    /// What a person is asked, if it is not just how it goes on: `acceptance`, `validation`, `judgement` or `conflict`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<String>,
    /// The event that said so.
    #[serde(default)]
    pub at: u64,
    /// What it is filed under.
    pub code: String,
    /// What exactly is to be accepted, where that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Whether somebody must decide how it goes on.
    #[serde(default)]
    pub escalated: bool,
    /// Whether what was claimed stands when it goes on, though a person did not say more than that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps: bool,
    /// One sentence.
    pub reason: String,
}

/// A working tree that a task started from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Base {
    /// The commit.
    pub commit: String,
    /// What differed from it already, with the hash of what it was; gone, if it is none.
    pub dirty: BTreeMap<String, Option<String>>,
}

/// A run as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// What was changed beside it and accepted by a person: commits by their names, other contents by their hashes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub accepted: BTreeSet<String>,
    /// What it must keep to.
    pub constraints: Vec<String>,
    /// The process that carries it out, as the ledger knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub led_by: Option<String>,
    /// What is counted.
    pub metrics: Metrics,
    /// What it is for.
    pub objective: String,
    /// The event that began it.
    pub opened: u64,
    /// Who leads it.
    pub orchestrator: String,
    /// Whether a person began it, as far as the door could tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
    /// What makes its tasks done: `claim` or `gates`.
    pub policy: String,
    /// Its id.
    pub run: String,
    /// When it was begun.
    pub since: String,
    /// What its agents used up, as far as they said so.
    #[serde(default, skip_serializing_if = "Spent::is_nothing")]
    pub spent: Spent,
    /// `open`, `closed` or `canceled`.
    pub status: String,
    /// Who was ever given work in it, where it has gates: they answer for nothing that is done in its name. Who works in other
    /// runs is in their tasks; this would be read with every event of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub workers: BTreeSet<String>,
}

/// What was used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Money, in millionths of a US dollar.
    pub micros: u64,
    /// Tokens, in and out.
    pub tokens: u64,
}

impl Spent {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl RunRow {
    /// Whether its tasks are done only through gates.
    pub fn is_gated(&self) -> bool {
        self.policy == GATES
    }

    /// Whether work goes on in it.
    pub fn is_open(&self) -> bool {
        self.status == OPEN
    }
}

/// What is counted of a run as it goes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Metrics {
    /// The tasks by state.
    pub by_status: BTreeMap<String, u64>,
    /// What was refused, by code.
    pub denials: BTreeMap<String, u64>,
    /// How often a task was given to somebody.
    pub dispatches: u64,
    /// Tasks done at the first attempt.
    pub first_pass: u64,
    /// How often that was refused because of a lock.
    pub lock_conflicts: u64,
    /// Results that passed every check.
    pub results_passed: u64,
    /// Results that did not.
    pub results_refused: u64,
    /// How often a failed task was tried again.
    pub retries: u64,
    /// How often that helped.
    pub retries_won: u64,
    /// All tasks.
    pub tasks: u64,
}

/// The command that brings a result.
pub const SUBMIT: &str = "task.submit";

/// Whether a code says that a result is not what it should be. Under the others it is refused for when or by whom it is brought.
pub fn is_unfit(code: &str) -> bool {
    const UNFIT: &[Code] = &[
        Code::UnknownSchemaVersion,
        Code::MissingRequiredInput,
        Code::SchemaInvalid,
        Code::UntrustedContextBlock,
        Code::ScopeViolation,
        Code::AcceptanceFailed,
        Code::IntegrityMismatch,
    ];
    UNFIT.iter().any(|unfit| unfit.as_str() == code)
}

/// The last result of a task that was refused, as the name of an entity. It is none of the task's row, which has not changed.
pub fn refused_key(run: &str, task: &str) -> Key {
    Key::new("refused_result", format!("{run}/{task}"))
}

/// The last result of a task that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRow {
    /// The event, which has the texts.
    pub at: u64,
    /// What it is filed under.
    pub code: String,
    /// Who brought it.
    pub by: String,
}

/// What was refused of the attempt at a task that goes on.
pub fn refused_of(task: &TaskRow, found: Option<&Found>) -> Option<RefusedRow> {
    let refused: RefusedRow = read(&found?.facts)?;
    // A lease has the number of the event that granted it: what came before was of an earlier attempt.
    let is_of_this = task.lease.is_some_and(|lease| refused.at > lease) && task.owner.as_ref() == Some(&refused.by);
    (is_of_this && task.result.is_none()).then_some(refused)
}

impl TaskRow {
    /// How many of its beginnings count.
    pub fn tries(&self) -> u32 {
        self.attempt.saturating_sub(self.returned)
    }

    /// What a person must accept before it goes on.
    pub fn waits_for_content(&self) -> Option<&str> {
        let blocker = self.blocker.as_ref().filter(|_| self.status == TaskStatus::Blocked)?;
        blocker.content.as_deref()
    }

    /// The name of its lease.
    pub fn lease_name(&self) -> String {
        lease_name(&self.run, &self.task)
    }

    /// Its name among entities.
    pub fn key(&self) -> Key {
        task_key(&self.run, &self.task)
    }
}

/// The name of a task's lease.
pub fn lease_name(run: &str, task: &str) -> String {
    format!("{run}/{task}")
}

/// A run's name among entities.
pub fn run_key(run: &str) -> Key {
    Key::new("run", run)
}

/// A task's name among entities.
pub fn task_key(run: &str, task: &str) -> Key {
    Key::new("task", format!("{run}/{task}"))
}

/// The name of a change of the operator ledger among entities.
pub fn delta_key(run: &str, delta: &str) -> Key {
    Key::new("delta", format!("{run}/{delta}"))
}

/// The name of a line of a worklog among entities.
pub fn worklog_key(run: &str, task: &str, seq: u64) -> Key {
    Key::new("worklog", format!("{run}/{task}/{seq}"))
}

/// The task in what was found.
pub fn task_of(found: Option<&Found>) -> Option<TaskRow> {
    task_at(found).map(Arc::unwrap_or_clone)
}

/// The same for whoever only looks at it: it is shared, and not copied.
pub(super) fn task_at(found: Option<&Found>) -> Option<Arc<TaskRow>> {
    found?.facts.row()
}

/// The run in what was found.
pub fn run_of(found: Option<&Found>) -> Option<RunRow> {
    run_at(found).map(Arc::unwrap_or_clone)
}

/// The same for whoever only looks at it.
pub(super) fn run_at(found: Option<&Found>) -> Option<Arc<RunRow>> {
    found?.facts.row()
}

/// A task that was seen.
pub fn task_seen(seen: &Seen, run: &str, task: &str) -> Option<TaskRow> {
    task_of(seen.so_far(&task_key(run, task)))
}

/// A part of facts.
pub(super) fn read<T: for<'de> Deserialize<'de>>(facts: &Value) -> Option<T> {
    T::deserialize(facts).ok()
}

impl Row for TaskRow {}
impl Row for RunRow {}

fn write_status<S: serde::Serializer>(status: &TaskStatus, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(status.as_str())
}

fn read_status<'de, D: Deserializer<'de>>(from: D) -> Result<TaskStatus, D::Error> {
    let word = <std::borrow::Cow<'de, str>>::deserialize(from)?;
    TaskStatus::parse(&word).ok_or_else(|| serde::de::Error::custom("no state of a task"))
}
