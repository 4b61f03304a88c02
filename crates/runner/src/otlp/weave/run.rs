//! A run, and the tasks in it.

use super::super::ids::{SpanId, TraceId};
use super::super::span::Span;
use super::task::Task;
use super::{Agents, Mark, Told, trace_of};
use countersign_domain::plan::event::PLAN_ADOPTED;
use countersign_domain::validation::event::PROMISE_MADE;
use countersign_domain::work::event::{RUN_CANCELED, RUN_CLOSED, RUN_OPENED, TASK_ADDED};
use std::collections::BTreeMap;

/// A run as far as it was told.
pub(super) struct Run {
    pub(super) id: String,
    pub(super) trace: TraceId,
    begun: Mark,
    policy: String,
    latest: i64,
    over: bool,
    pub(super) tasks: BTreeMap<String, Task>,
    pub(super) agents: Agents,
}

impl Run {
    pub(super) fn new(id: &str, begun: Mark) -> Self {
        Self {
            id: id.to_owned(),
            trace: trace_of(id),
            begun,
            policy: String::new(),
            latest: i64::MIN,
            over: false,
            tasks: BTreeMap::new(),
            agents: Agents::default(),
        }
    }

    /// A time of this run: not earlier than the one before it.
    pub(super) fn not_earlier(&mut self, at: i64) -> i64 {
        self.latest = self.latest.max(at);
        self.latest
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// The span that everything in the run is inside of.
    pub(super) fn root(trace: TraceId, id: &str) -> SpanId {
        SpanId::of(trace, "run", id)
    }

    /// The innermost span that has gone on since a moment: an attempt at a task, the task, the run.
    pub(super) fn around(&self, task: &str, since: Mark) -> SpanId {
        let within = self.tasks.get(task).and_then(|task| task.around(self, since));
        within.unwrap_or_else(|| Self::root(self.trace, &self.id))
    }

    pub(super) fn tell(&mut self, told: &Told<'_>, spans: &mut Vec<Span>) {
        match told.kind {
            RUN_OPENED => told.text("policy").clone_into(&mut self.policy),
            RUN_CLOSED | RUN_CANCELED => self.end(told, spans),
            PLAN_ADOPTED => {}
            _ => self.of_task(told, spans),
        }
    }

    fn of_task(&mut self, told: &Told<'_>, spans: &mut Vec<Span>) {
        let name = told.text("task");
        if name.is_empty() {
            return;
        }
        // Taken out, so that it can be told with its run in view.
        let known = self.tasks.remove(name);
        let mut task = known.unwrap_or_else(|| Task::new(name, told.mark()));
        match told.kind {
            TASK_ADDED => {}
            PROMISE_MADE => told.text("judge").clone_into(&mut task.judge),
            _ => task.tell(self, told, spans),
        }
        self.tasks.insert(name.to_owned(), task);
    }

    fn end(&mut self, told: &Told<'_>, spans: &mut Vec<Span>) {
        let tasks = std::mem::take(&mut self.tasks);
        for task in tasks.values() {
            spans.extend(task.going_on(self).into_iter().rev().map(|span| span.until(Some(told.at))));
        }
        self.tasks = tasks;
        self.over = true;
        let status = if told.kind == RUN_CLOSED { "closed" } else { "canceled" };
        spans.push(self.span(status, Some(told.mark())));
    }

    fn span(&self, status: &str, ended: Option<Mark>) -> Span {
        let id = Self::root(self.trace, &self.id);
        let done = self.tasks.values().filter(|task| task.is_done()).count();
        Span::begun(self.trace, id, None, "invoke_workflow".to_owned(), self.begun.at)
            .until(ended.map(|mark| mark.at))
            .word("gen_ai.operation.name", "invoke_workflow")
            .word("gen_ai.conversation.id", &self.id)
            .word("countersign.run.id", &self.id)
            .word("countersign.run.policy", &self.policy)
            .word("countersign.run.status", status)
            .count("countersign.run.tasks", Some(self.tasks.len() as u64))
            .count("countersign.run.tasks_done", Some(done as u64))
            .count("countersign.event.first", Some(self.begun.seq))
            .count("countersign.event.last", ended.map(|mark| mark.seq))
    }

    pub(super) fn going_on(&self) -> Vec<Span> {
        let tasks = self.tasks.values().flat_map(|task| task.going_on(self));
        [self.span("open", None)].into_iter().chain(tasks).collect()
    }
}
