//! Events into spans: a fold over the log that gives each span when it ends.
//!
//! ```text
//! run ─┬─ task ─┬─ attempt ─┬─ invoke_agent
//!      │        │           ├─ validate, judge, land
//!      │        │           └─ execute_tool   (a delegated action)
//!      │        └─ validate, judge, accept    (by a person, while nobody works)
//!      └─ task …
//! handoff send ◀┈┈link┈┈ handoff receive
//! ```
//!
//! **Invariant:** a span lies within the times of the one that it is inside of. The order is that of the log; where a clock went
//! back, what comes later in the log is taken as not earlier.
//! **Absent on purpose:** clocks, files and the network. What comes of the same events is the same.

mod delegation;
mod gate;
mod handoff;
mod run;
mod task;

use super::ids::TraceId;
use super::span::Span;
use countersign_domain::{delegation::event as delegations, handoff::event as handoffs};
use countersign_engine::Stored;
use serde_json::Value;
use std::collections::BTreeMap;

/// An event, as far as traces ask.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// Its place in the log.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// What happened.
    pub kind: &'a str,
    /// The run that it belongs to.
    pub run: Option<&'a str>,
    /// What is known of it.
    pub facts: &'a Value,
}

impl<'a> Told<'a> {
    /// An event that was read.
    pub fn of(stored: &'a Stored) -> Self {
        let at = stored.text("time").parse::<jiff::Timestamp>().map_or(0, |time| time.as_millisecond());
        let run = stored.value()["run"].as_str();
        Self { seq: stored.seq, at, kind: stored.text("kind"), run, facts: stored.facts() }
    }

    fn text(&self, name: &str) -> &'a str {
        self.facts[name].as_str().unwrap_or_default()
    }

    fn mark(&self) -> Mark {
        Mark { seq: self.seq, at: self.at }
    }
}

/// A moment: an event, and when it was.
#[derive(Debug, Clone, Copy)]
struct Mark {
    seq: u64,
    at: i64,
}

/// Who works in a run by its plan, as far as traces ask: for each the model that was asked for, and who provides it.
#[derive(Debug, Clone, Default)]
pub struct Agents {
    /// By name.
    pub named: BTreeMap<String, (Option<String>, Option<&'static str>)>,
    /// The model of the endpoint that judges.
    pub judge: Option<String>,
}

/// What must be told before an event makes sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// Everything of a run.
    Run(String),
    /// An instruction, from when it came.
    Delegation(String),
}

/// How many runs, and how many instructions, are known at once. What was forgotten is told again when it is needed.
const KNOWN_MAX: usize = 256;

/// The fold.
pub struct Weaver {
    project: String,
    runs: BTreeMap<String, run::Run>,
    delegations: BTreeMap<String, delegation::Delegation>,
}

impl Weaver {
    /// One that has been told nothing yet, for a project.
    pub fn new(project: &str) -> Self {
        Self { project: project.to_owned(), runs: BTreeMap::new(), delegations: BTreeMap::new() }
    }

    /// What must be told before this event.
    pub(super) fn before(&self, told: &Told<'_>) -> Option<Before> {
        if let Some(run) = told.run
            && !self.runs.contains_key(run)
        {
            return Some(Before::Run(run.to_owned()));
        }
        let instruction = told.text("instruction_id");
        let goes_on = delegations::ALL.contains(&told.kind) && told.kind != delegations::DELEGATION_RECEIVED;
        let unknown = goes_on && !self.delegations.contains_key(instruction);
        unknown.then(|| Before::Delegation(instruction.to_owned()))
    }

    /// Makes room before more is told.
    pub(super) fn forget_some(&mut self) {
        if self.runs.len() > KNOWN_MAX {
            self.runs.clear();
        }
        if self.delegations.len() > KNOWN_MAX {
            self.delegations.clear();
        }
    }

    /// Tells who works in a run.
    pub fn cast(&mut self, run: &str, agents: Agents) {
        if let Some(known) = self.runs.get_mut(run) {
            known.agents = agents;
        }
    }

    /// Tells an event, in the order of the log, and gives the spans that ended with it, inner ones first.
    pub fn tell(&mut self, told: &Told<'_>) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut told = *told;
        if let Some(run) = told.run {
            let known = self.runs.entry(run.to_owned()).or_insert_with(|| run::Run::new(run, told.mark()));
            told.at = known.not_earlier(told.at);
            known.tell(&told, &mut spans);
        }
        if delegations::ALL.contains(&told.kind) {
            let home = told.run.and_then(|run| self.runs.get(run));
            delegation::tell(&mut self.delegations, &self.project, home, &told, &mut spans);
        }
        if handoffs::ALL.contains(&told.kind) {
            spans.push(handoff::span(&told));
        }
        if let Some(run) = told.run
            && self.runs.get(run).is_some_and(run::Run::is_over)
        {
            self.runs.remove(run);
        }
        spans
    }

    /// What has begun in a run and not ended, outer ones first.
    pub fn going_on(&self, run: &str) -> Vec<Span> {
        self.runs.get(run).map(run::Run::going_on).unwrap_or_default()
    }
}

/// What an event tells of a handoff.
pub(super) fn handoff_span(told: &Told<'_>) -> Span {
    handoff::span(told)
}

/// The trace of a run.
pub(super) fn trace_of(run: &str) -> TraceId {
    TraceId::of_uuid(run)
}

#[cfg(test)]
mod tests;
