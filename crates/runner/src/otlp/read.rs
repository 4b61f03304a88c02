//! The log, read for its spans.

use super::span::Span;
use super::weave::{self, Agents, Before, Told, Weaver};
use countersign_domain::delegation::row::{delegation_key, delegation_of};
use countersign_domain::handoff::row::{trace_key, trace_of};
use countersign_domain::plan::event::PLAN_ADOPTED;
use countersign_domain::plan::payload::{Agent, Judge, Plan, Preset};
use countersign_engine::{Engine, Stored, StoredText};

/// How many events are read at once.
const PAGE: usize = 500;

/// A run as a trace.
#[derive(Debug)]
pub struct Trace {
    /// What has ended, inner spans before outer ones.
    pub ended: Vec<Span>,
    /// What goes on, outer spans before inner ones.
    pub going_on: Vec<Span>,
}

/// The trace of a run, as it stands.
pub fn of_run(engine: &Engine, run: &str) -> Result<Trace, String> {
    let mut reader = Reader::new(engine);
    let ended = reader.history(run, u64::MAX)?;
    Ok(Trace { ended, going_on: reader.weaver.going_on(run) })
}

/// The trace of a handoff, as it stands: every handoff of it, and what became of each.
pub fn of_handoff(engine: &Engine, trace: &str) -> Result<Trace, String> {
    let found = engine.entity(&trace_key(trace)).map_err(|error| error.to_string())?;
    let row = trace_of(found.as_ref()).ok_or_else(|| format!("nothing was sent in trace {trace}"))?;
    let mut seqs: Vec<u64> = Vec::new();
    for step in &row.steps {
        let after = [step.received.as_ref(), step.processed.as_ref()].into_iter().flatten().map(|it| it.seq);
        seqs.extend([step.sent].into_iter().chain(after).chain(step.errors.iter().map(|it| it.seq)));
    }
    seqs.sort_unstable();
    let mut ended = Vec::new();
    for seq in seqs {
        for stored in engine.stored(seq, seq).map_err(|error| error.to_string())? {
            ended.push(weave::handoff_span(&Told::of(&stored)));
        }
    }
    Ok(Trace { ended, going_on: Vec::new() })
}

/// Reads events and gives the spans that ended with them. What came before is looked up where it is needed, so that reading can
/// begin anywhere.
pub(super) struct Reader<'e> {
    engine: &'e Engine,
    weaver: Weaver,
}

impl<'e> Reader<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self { engine, weaver: Weaver::new(engine.ledger().project()) }
    }

    /// The spans that ended with the next events after one, and the last of these events. None, if there are no more.
    pub(super) fn next(&mut self, after: u64) -> Result<Option<(Vec<Span>, u64)>, String> {
        let page = self.page(after.saturating_add(1), None)?;
        let Some(last) = page.last().map(|stored| stored.seq) else { return Ok(None) };
        self.weaver.forget_some();
        let mut spans = Vec::new();
        for stored in &page {
            self.look_back(stored)?;
            spans.extend(self.tell(stored)?);
        }
        Ok(Some((spans, last)))
    }

    fn page(&self, from: u64, run: Option<&str>) -> Result<Vec<Stored>, String> {
        let rows = self.engine.ledger().events(from, run, PAGE).map_err(|error| error.to_string())?;
        rows.into_iter().map(|row| Stored::of(row).map_err(|error| error.to_string())).collect()
    }

    /// Tells what must be known before an event. What ended then has been sent, or is not asked for.
    fn look_back(&mut self, stored: &Stored) -> Result<(), String> {
        if let Some(Before::Run(run)) = self.weaver.before(&Told::of(stored)) {
            self.history(&run, stored.seq)?;
        }
        if let Some(Before::Delegation(instruction)) = self.weaver.before(&Told::of(stored)) {
            let found = self.engine.entity(&delegation_key(&instruction)).map_err(|error| error.to_string())?;
            let Some(row) = delegation_of(found.as_ref()) else { return Ok(()) };
            let seqs = [Some(row.received), row.started.map(|it| it.seq), row.audited];
            for seq in seqs.into_iter().flatten().filter(|seq| *seq < stored.seq) {
                for earlier in self.engine.stored(seq, seq).map_err(|error| error.to_string())? {
                    self.weaver.tell(&Told::of(&earlier));
                }
            }
        }
        Ok(())
    }

    /// The spans of a run that ended before an event.
    fn history(&mut self, run: &str, before: u64) -> Result<Vec<Span>, String> {
        let (mut from, mut spans) = (1, Vec::new());
        loop {
            let page = self.page(from, Some(run))?;
            for stored in page.iter().take_while(|stored| stored.seq < before) {
                spans.extend(self.tell(stored)?);
            }
            match page.last() {
                Some(last) if last.seq < before => from = last.seq + 1,
                _ => return Ok(spans),
            }
        }
    }

    fn tell(&mut self, stored: &Stored) -> Result<Vec<Span>, String> {
        let told = Told::of(stored);
        let spans = self.weaver.tell(&told);
        if let (PLAN_ADOPTED, Some(run)) = (told.kind, told.run)
            && let Some(plan) = self.plan(stored.seq)?
        {
            self.weaver.cast(run, agents(&plan));
        }
        Ok(spans)
    }

    /// The plan that an event brought; none, if it was erased.
    fn plan(&self, seq: u64) -> Result<Option<Plan>, String> {
        let texts = self.engine.texts(seq).map_err(|error| error.to_string())?;
        Ok(match texts.first() {
            Some(StoredText::Said(text)) => text.inspect(countersign_domain::plan::command::read),
            _ => None,
        })
    }
}

/// Who works by a plan, as far as traces ask.
fn agents(plan: &Plan) -> Agents {
    let provider = |agent: &Agent| match agent.preset {
        Some(Preset::Claude) => Some("anthropic"),
        Some(Preset::Codex) => Some("openai"),
        None => None,
    };
    let model = |agent: &Agent| agent.model.as_ref().map(|model| model.as_str().to_owned());
    let named = plan.agents.iter().map(|(name, agent)| (name.to_string(), (model(agent), provider(agent))));
    let judge = match plan.gates.as_ref().and_then(|gates| gates.judge.as_ref()) {
        Some(Judge::Endpoint(endpoint)) => Some(endpoint.model.as_str().to_owned()),
        _ => None,
    };
    Agents { named: named.collect(), judge }
}
