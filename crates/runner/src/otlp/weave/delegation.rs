//! A delegated action, from when its instruction came to when it was answered.

use super::super::ids::{SpanId, TraceId};
use super::super::span::{Point, Span};
use super::super::words;
use super::run::Run;
use super::{Mark, Told};
use countersign_domain::delegation::event::{
    DELEGATION_ANSWERED, DELEGATION_AUDITED, DELEGATION_RECEIVED, DELEGATION_STARTED,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// An instruction that was not answered yet.
pub(super) struct Delegation {
    received: Mark,
    latest: i64,
    facts: Value,
    points: Vec<Point>,
}

pub(super) fn tell(
    known: &mut BTreeMap<String, Delegation>,
    project: &str,
    home: Option<&Run>,
    told: &Told<'_>,
    spans: &mut Vec<Span>,
) {
    let id = told.text("instruction_id");
    if told.kind == DELEGATION_RECEIVED {
        let (received, facts) = (told.mark(), told.facts.clone());
        known.insert(id.to_owned(), Delegation { received, latest: told.at, facts, points: Vec::new() });
        return;
    }
    let Some(delegation) = known.get_mut(id) else { return };
    delegation.latest = delegation.latest.max(told.at);
    let at = delegation.latest;
    match told.kind {
        DELEGATION_STARTED => delegation.points.push(point("countersign.delegation.started", at)),
        DELEGATION_AUDITED => delegation.points.push(point("countersign.delegation.audited", at)),
        DELEGATION_ANSWERED => {
            if let Some(delegation) = known.remove(id) {
                spans.push(span(delegation, id, project, home, told, at));
            }
        }
        _ => {}
    }
}

fn point(name: &'static str, at: i64) -> Point {
    Point { name, at, attributes: Vec::new() }
}

fn span(of: Delegation, id: &str, project: &str, home: Option<&Run>, told: &Told<'_>, at: i64) -> Span {
    let name = format!("{project}/{id}");
    let (trace, parent) = match home {
        Some(run) => (run.trace, Some(run.around(of.facts["task"].as_str().unwrap_or_default(), of.received))),
        None => (TraceId::of_name("delegation", &name), None),
    };
    let action = of.facts["action"].as_str().unwrap_or_default();
    let status = told.text("status");
    let code = (status != "SUCCESS").then(|| told.facts["error_type"].as_str().unwrap_or(status));
    let shown = format!("execute_tool {}", words::safe(action));
    Span::begun(trace, SpanId::of(trace, "delegation", &name), parent, shown, of.received.at)
        .until(Some(at))
        .word("gen_ai.operation.name", "execute_tool")
        .word("gen_ai.tool.name", action)
        .word("gen_ai.tool.call.id", id)
        .maybe("countersign.delegation.executor", &of.facts["executor"])
        .maybe("countersign.delegation.repository", &of.facts["repository"])
        .word("countersign.delegation.status", status)
        .word("countersign.delegation.response_id", told.text("response_id"))
        .maybe("countersign.delegation.audit_entry_id", &of.facts["audit_entry_id"])
        .count("countersign.delegation.errors", of.facts["errors"].as_u64())
        .count("countersign.event.first", Some(of.received.seq))
        .count("countersign.event.last", Some(told.seq))
        .with_points(of.points)
        .failed_with(code)
}
