//! The two sides of a handoff. Each is a moment; what lies between them is how long it was under way.

use super::super::ids::{SpanId, TraceId};
use super::super::span::{Kind, Span};
use super::super::words;
use super::run::Run;
use super::{Told, trace_of};
use countersign_domain::handoff::event::{HANDOFF_NOTED, HANDOFF_SENT};

/// The side that an event tells of. Its trace is the one that the handoff names, whatever form that has, so that what another
/// system recorded under it lies in the same one. A side that belongs to a run points there.
pub(super) fn span(told: &Told<'_>) -> Span {
    let name = told.text("trace");
    let trace = TraceId::of_uuid(name);
    let step = told.facts["step"].as_u64().unwrap_or(0);
    let side = |which: &str, step: u64| SpanId::of(trace, which, &format!("{name}/{step}"));
    let span = if told.kind == HANDOFF_SENT {
        let (source, target) = (told.text("source"), told.text("target"));
        let shown = format!("handoff send {}", words::safe(target));
        let sent = Span::begun(trace, side("sent", step), None, shown, told.at)
            .of_kind(Kind::Producer)
            .word("gen_ai.agent.name", source)
            .word("countersign.handoff.source", source)
            .word("countersign.handoff.target", target)
            .count("countersign.handoff.tokens", told.facts["tokens"].as_u64())
            .count("countersign.handoff.hops", told.facts["chain"].as_array().map(|chain| chain.len() as u64));
        match told.facts["after"].as_u64() {
            Some(after) => sent.linked(trace, side("received", after), "goes_on_from"),
            None => sent,
        }
    } else if told.kind == HANDOFF_NOTED {
        let (skill, event) = (told.text("skill"), told.text("event"));
        let verb = if event == "error" { "error" } else { "process" };
        let shown = format!("handoff {verb} {}", words::safe(skill));
        // What was met with more than once is told each time.
        let id = SpanId::of(trace, event, &format!("{name}/{step}/{}", told.seq));
        let noted = Span::begun(trace, id, None, shown, told.at)
            .of_kind(Kind::Internal)
            .word("gen_ai.agent.name", skill)
            .word("countersign.handoff.target", skill)
            .linked(trace, side("sent", step), "sent_as");
        match told.facts["code"].as_str() {
            Some(code) => noted.failed_with(Some(code)),
            None => noted,
        }
    } else {
        let skill = told.text("skill");
        let shown = format!("handoff receive {}", words::safe(skill));
        Span::begun(trace, side("received", step), None, shown, told.at)
            .of_kind(Kind::Consumer)
            .word("gen_ai.agent.name", skill)
            .word("countersign.handoff.target", skill)
            .linked(trace, side("sent", step), "sent_as")
    };
    let span = match told.run {
        Some(run) => span.linked(trace_of(run), Run::root(trace_of(run), run), "of_run"),
        None => span,
    };
    span.until(Some(told.at))
        .word("gen_ai.conversation.id", name)
        .word("countersign.handoff.trace_id", name)
        .count("countersign.handoff.step", Some(step))
        .count("countersign.event.last", Some(told.seq))
}
