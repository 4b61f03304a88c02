//! A task, from its first attempt to its end, and the attempts at it.

use super::super::ids::SpanId;
use super::super::span::{Kind, Point, Span};
use super::super::words;
use super::run::Run;
use super::{Mark, Told, gate};
use countersign_domain::delegation::event::DELEGATION_PLANNED;
use countersign_domain::validation::event as gates;
use countersign_domain::work::event::{
    EFFECT_FINISHED, EFFECT_STARTED, RESULT_SUBMITTED, TASK_BLOCKED, TASK_CANCELED, TASK_CLAIMED, TASK_COMPLETED,
    TASK_FAILED, TASK_TIMED_OUT,
};
use serde_json::Value;

/// A task as far as it was told.
pub(super) struct Task {
    pub(super) name: String,
    added: Mark,
    begun: Option<Mark>,
    attempts: u64,
    /// Whether it is an action on a platform, with no agent and nothing to land.
    is_action: bool,
    /// How it ended.
    ended: Option<String>,
    pub(super) attempt: Option<Attempt>,
    /// Since when nobody works on it.
    pub(super) stopped: Option<Mark>,
    /// Who judges it.
    pub(super) judge: String,
    /// Evidence that was collected and not yet validated with.
    pub(super) evidence: Vec<Point>,
}

/// An attempt at a task that goes on.
pub(super) struct Attempt {
    pub(super) begun: Mark,
    number: u64,
    owner: String,
    /// Since when its agent works.
    agent: Option<Mark>,
    /// Whether an agent was seen to work, or to have worked.
    worked: bool,
    /// Since when its work is landed.
    landing: Option<Mark>,
    /// When its result came.
    pub(super) result: Option<Mark>,
    /// When it last came through a gate.
    pub(super) gate: Option<Mark>,
    /// When the built-in validator was through with it.
    pub(super) checked: Option<Mark>,
    /// What those who looked at it used, as far as they said so: who, and how much.
    used: Vec<(String, Value)>,
}

impl Attempt {
    fn id(&self, run: &Run) -> SpanId {
        SpanId::of(run.trace, "attempt", &format!("{}/{}", run.id, self.begun.seq))
    }

    /// What somebody used who looked at it.
    pub(super) fn used_by(&mut self, who: &str) -> Value {
        let at = self.used.iter().position(|(by, _)| by == who);
        at.map(|at| self.used.swap_remove(at).1).unwrap_or_default()
    }

    /// Since when its gates are open.
    pub(super) fn claimed(&self) -> Mark {
        self.result.unwrap_or(self.begun)
    }
}

impl Task {
    pub(super) fn new(name: &str, added: Mark) -> Self {
        Self {
            name: name.to_owned(),
            added,
            begun: None,
            attempts: 0,
            is_action: false,
            ended: None,
            attempt: None,
            stopped: None,
            judge: String::new(),
            evidence: Vec::new(),
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.ended.as_deref() == Some("done")
    }

    fn id(&self, run: &Run) -> SpanId {
        SpanId::of(run.trace, "task", &format!("{}/{}", run.id, self.name))
    }

    /// The span of it that has gone on since a moment: the attempt, or the task.
    pub(super) fn around(&self, run: &Run, since: Mark) -> Option<SpanId> {
        if self.ended.is_some() {
            return None;
        }
        let attempt = self.attempt.as_ref().filter(|attempt| attempt.begun.seq <= since.seq);
        let task = self.begun.filter(|begun| begun.seq <= since.seq);
        attempt.map(|attempt| attempt.id(run)).or_else(|| task.map(|_| self.id(run)))
    }

    pub(super) fn tell(&mut self, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
        match told.kind {
            DELEGATION_PLANNED => self.is_action = true,
            TASK_CLAIMED => self.claimed(told),
            EFFECT_STARTED | EFFECT_FINISHED => self.effect(run, told, spans),
            RESULT_SUBMITTED => self.result(run, told, spans),
            TASK_BLOCKED | TASK_TIMED_OUT => self.stop(run, told, spans),
            TASK_COMPLETED | TASK_FAILED | TASK_CANCELED => {
                self.stop(run, told, spans);
                self.end(run, told, spans);
            }
            gates::EVIDENCE_COLLECTED => self.evidence.push(gate::evidence(told)),
            gates::VERDICT_GIVEN | gates::JUDGED | gates::FAILURES_ACCEPTED => gate::tell(self, run, told, spans),
            _ => {}
        }
    }

    fn claimed(&mut self, told: &Told<'_>) {
        self.begun.get_or_insert(told.mark());
        self.attempts += 1;
        self.stopped = None;
        self.attempt = Some(Attempt {
            begun: told.mark(),
            number: told.facts["attempt"].as_u64().unwrap_or(self.attempts),
            owner: told.text("owner").to_owned(),
            agent: None,
            worked: false,
            landing: None,
            result: None,
            gate: None,
            checked: None,
            used: Vec::new(),
        });
    }

    fn effect(&mut self, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
        // What belongs to an earlier attempt ended with that.
        let current = |attempt: &&mut Attempt| told.facts["lease"].as_u64() == Some(attempt.begun.seq);
        let Some(attempt) = self.attempt.as_mut().filter(current) else { return };
        match (told.text("kind"), told.kind) {
            ("agent", EFFECT_STARTED) => {
                attempt.agent = Some(told.mark());
                attempt.worked = true;
            }
            ("agent", _) => {
                if let Some(since) = attempt.agent.take() {
                    let code = exit_code(told.facts);
                    spans.push(agent(run, attempt, since, Some(told.at), told.facts).failed_with(code));
                }
            }
            ("validator" | "judge", EFFECT_FINISHED) => {
                attempt.used.push((told.text("who").to_owned(), told.facts["usage"].clone()));
            }
            ("landing", EFFECT_STARTED) => attempt.landing = Some(told.mark()),
            ("landing", _) => {
                if let Some(since) = attempt.landing.take() {
                    spans.push(gate::landing(run, attempt.id(run), since, told, Some("CONCURRENCY_CONFLICT")));
                }
            }
            _ => {}
        }
    }

    fn result(&mut self, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
        let current = |attempt: &&mut Attempt| told.facts["lease"].as_u64() == Some(attempt.begun.seq);
        let Some(attempt) = self.attempt.as_mut().filter(current) else { return };
        attempt.result = Some(told.mark());
        // Whoever claims tasks by itself works from the claim to the result.
        if !attempt.worked {
            attempt.worked = true;
            spans.push(agent(run, attempt, attempt.begun, Some(told.at), &Value::Null));
        }
    }

    /// An attempt ends, and all that goes on in it.
    fn stop(&mut self, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
        self.stopped = Some(told.mark());
        let Some(attempt) = self.attempt.take() else { return };
        let has_failed = told.facts["failed"] == true || matches!(told.kind, TASK_TIMED_OUT | TASK_FAILED);
        let code = told.facts["code"].as_str().filter(|_| has_failed);
        let done = told.kind == TASK_COMPLETED;
        // A peer that brought no result has worked in vain; who was claimed for only to land has not worked.
        let idle = !attempt.worked && attempt.gate.is_none() && attempt.landing.is_none();
        let in_vain = idle && !done && !self.is_action;
        if let Some(since) = attempt.agent.or(in_vain.then_some(attempt.begun)) {
            spans.push(agent(run, &attempt, since, Some(told.at), &Value::Null).failed_with(code));
        }
        let lands = done && told.facts["gated"] == true && !self.is_action;
        let since = attempt.landing.or(lands.then(|| attempt.gate.unwrap_or(attempt.claimed())));
        if let Some(since) = since {
            let code = if done { None } else { told.facts["code"].as_str() };
            // What was looked at once more on what lands.
            let again = std::mem::take(&mut self.evidence);
            spans.push(gate::landing(run, attempt.id(run), since, told, code).with_points(again));
        }
        let span = self.attempted(run, &attempt, Some(told.mark()));
        let span = span.maybe("countersign.attempt.outcome", &told.facts["to"]);
        let span = span.flag("countersign.attempt.escalated", told.facts["escalated"] == true);
        // That an attempt waits for a person is no failure of it; why it does is worth knowing.
        let span = if has_failed { span } else { span.maybe("countersign.code", &told.facts["code"]) };
        spans.push(span.failed_with(code));
    }

    fn end(&mut self, run: &Run, told: &Told<'_>, spans: &mut Vec<Span>) {
        self.ended = Some(told.text("to").to_owned());
        let code = told.facts["code"].as_str().filter(|_| told.kind == TASK_FAILED);
        let begun = self.begun.unwrap_or(told.mark());
        let span =
            self.span(run, begun, Some(told.mark())).maybe("countersign.task.assurance", &told.facts["assurance"]);
        spans.push(span.failed_with(code));
    }

    fn span(&self, run: &Run, begun: Mark, ended: Option<Mark>) -> Span {
        let waited = u64::try_from(begun.at.saturating_sub(self.added.at)).ok();
        let root = Run::root(run.trace, &run.id);
        Span::begun(run.trace, self.id(run), Some(root), format!("task {}", words::safe(&self.name)), begun.at)
            .until(ended.map(|mark| mark.at))
            .word("countersign.run.id", &run.id)
            .word("countersign.task.id", &self.name)
            .word("countersign.task.status", self.ended.as_deref().unwrap_or("open"))
            .count("countersign.task.attempts", Some(self.attempts))
            .count("countersign.task.waited_ms", waited)
            .count("countersign.event.first", Some(begun.seq))
            .count("countersign.event.last", ended.map(|mark| mark.seq))
    }

    fn attempted(&self, run: &Run, attempt: &Attempt, ended: Option<Mark>) -> Span {
        let name = format!("attempt {}", attempt.number);
        Span::begun(run.trace, attempt.id(run), Some(self.id(run)), name, attempt.begun.at)
            .until(ended.map(|mark| mark.at))
            .word("countersign.run.id", &run.id)
            .word("countersign.task.id", &self.name)
            .count("countersign.attempt.number", Some(attempt.number))
            .count("countersign.attempt.lease", Some(attempt.begun.seq))
            .word("countersign.attempt.owner", &attempt.owner)
            .count("countersign.event.first", Some(attempt.begun.seq))
            .count("countersign.event.last", ended.map(|mark| mark.seq))
    }

    /// What has begun and not ended, outer ones first.
    pub(super) fn going_on(&self, run: &Run) -> Vec<Span> {
        let Some(begun) = self.begun.filter(|_| self.ended.is_none()) else { return Vec::new() };
        let mut spans = vec![self.span(run, begun, None)];
        if let Some(attempt) = &self.attempt {
            spans.push(self.attempted(run, attempt, None));
            let working = attempt.agent.map(|since| agent(run, attempt, since, None, &Value::Null));
            spans.extend(working);
        }
        spans
    }
}

/// An agent at work. Usage is what it said of itself, where it did.
fn agent(run: &Run, attempt: &Attempt, since: Mark, ended: Option<i64>, facts: &Value) -> Span {
    let id = SpanId::of(run.trace, "agent", &format!("{}/{}", run.id, since.seq));
    let usage = &facts["usage"];
    let span = invoked(run, &attempt.owner, id, attempt.id(run), since).until(ended);
    with_usage(span, usage)
        .count("countersign.agent.tool_uses", usage["tool_uses"].as_u64())
        .count("countersign.agent.turns", usage["turns"].as_u64())
        .count("countersign.agent.out_bytes", facts["out_bytes"].as_u64())
        .count("countersign.agent.err_bytes", facts["err_bytes"].as_u64())
}

/// What somebody used of a model, as the conventions for generative AI name it.
pub(super) fn with_usage(span: Span, usage: &Value) -> Span {
    span.maybe("gen_ai.response.model", &usage["model"])
        .count("gen_ai.usage.input_tokens", usage["input_tokens"].as_u64())
        .count("gen_ai.usage.output_tokens", usage["output_tokens"].as_u64())
}

/// An agent that is asked for something, as the conventions for generative AI name it.
pub(super) fn invoked(run: &Run, name: &str, id: SpanId, parent: SpanId, since: Mark) -> Span {
    let shown = words::safe(name);
    let known = run.agents.named.get(name);
    let provider = known.and_then(|(_, provider)| *provider).unwrap_or("_OTHER");
    let model = known.and_then(|(model, _)| model.as_deref()).unwrap_or_default();
    Span::begun(run.trace, id, Some(parent), format!("invoke_agent {shown}"), since.at)
        .of_kind(Kind::Client)
        .word("gen_ai.operation.name", "invoke_agent")
        .word("gen_ai.provider.name", provider)
        .word("gen_ai.agent.name", name)
        .word("gen_ai.request.model", model)
        .word("gen_ai.conversation.id", &run.id)
}

/// The code of an agent that did not end well.
fn exit_code(facts: &Value) -> Option<&'static str> {
    let outcome = facts["outcome"].as_str().unwrap_or_default();
    match facts["exit_code"].as_i64() {
        Some(0) => None,
        Some(_) => Some("DEPENDENCY_NOT_MET"),
        None if outcome.starts_with("ended by signal") => Some("DEPENDENCY_NOT_MET"),
        // It was ended, or nobody knows how it did.
        None if ["ended because", "stopped", "unknown"].iter().any(|it| outcome.starts_with(it)) => {
            Some("TASK_TIMEOUT")
        }
        None => None,
    }
}
