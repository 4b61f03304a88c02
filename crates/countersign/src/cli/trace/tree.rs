//! Spans inside of spans, as people and programs see them.

use crate::cli::words::{Table, span as lasting};
use countersign_runner::otlp::{Span, SpanId, Trace, Worth};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A trace as a tree. A span whose outer one is not known stands at the top.
pub struct Tree<'t> {
    tops: Vec<&'t Span>,
    inside: BTreeMap<SpanId, Vec<&'t Span>>,
}

impl<'t> Tree<'t> {
    /// The tree of a trace.
    pub fn of(trace: &'t Trace) -> Self {
        let mut spans: Vec<&Span> = trace.ended.iter().chain(&trace.going_on).collect();
        // Of spans that began together the one that lasts is likely to be first in people's minds.
        spans.sort_by_key(|span| (span.begun, std::cmp::Reverse(span.ended.unwrap_or(i64::MAX))));
        let known: BTreeSet<SpanId> = spans.iter().map(|span| span.id).collect();
        let mut tree = Self { tops: Vec::new(), inside: BTreeMap::new() };
        for span in spans {
            match span.parent.filter(|parent| known.contains(parent)) {
                Some(parent) => tree.inside.entry(parent).or_default().push(span),
                None => tree.tops.push(span),
            }
        }
        tree
    }

    fn inside(&self, outer: &Span) -> &[&'t Span] {
        self.inside.get(&outer.id).map(Vec::as_slice).unwrap_or_default()
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut table = Table::new(["SPAN", "TOOK", "WHAT CAME OF IT"]);
        for top in &self.tops {
            self.rows(top, "", "", &mut table);
        }
        table.text_or("nothing has happened in this run yet")
    }

    fn rows(&self, span: &Span, before: &str, below: &str, table: &mut Table) {
        table.row([format!("{before}{}", title(span)), took(span), outcome(span)]);
        let inside = self.inside(span);
        for (n, inner) in inside.iter().enumerate() {
            let last = n + 1 == inside.len();
            let (branch, gap) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            self.rows(inner, &format!("{below}{branch}"), &format!("{below}{gap}"), table);
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        self.tops.iter().map(|top| self.node(top)).collect()
    }

    fn node(&self, span: &Span) -> Value {
        let attributes: Map<String, Value> =
            span.attributes.iter().map(|(name, it)| ((*name).to_owned(), of(it))).collect();
        let inside: Vec<Value> = self.inside(span).iter().map(|inner| self.node(inner)).collect();
        let links = span.links.iter().map(|link| {
            json!({ "trace_id": link.trace.to_string(), "span_id": link.span.to_string(), "relation": link.relation })
        });
        let took = span.ended.map(|ended| ended - span.begun);
        json!({
            "trace_id": span.trace.to_string(), "span_id": span.id.to_string(), "name": span.name,
            "started_at": time(span.begun), "ended_at": span.ended.map(time), "took_ms": took, "error": span.failed,
            "attributes": attributes, "links": links.collect::<Vec<_>>(), "spans": inside,
        })
    }
}

fn of(worth: &Worth) -> Value {
    match worth {
        Worth::Word(word) => json!(word),
        Worth::Count(count) => json!(count),
        Worth::Flag(flag) => json!(flag),
    }
}

fn time(milliseconds: i64) -> String {
    Timestamp::from_millisecond(milliseconds).map_or_else(|_| milliseconds.to_string(), |time| time.to_string())
}

fn title(span: &Span) -> String {
    match span.said("countersign.run.id").filter(|_| span.name == "invoke_workflow") {
        Some(run) => format!("run {run}"),
        None => span.name.clone(),
    }
}

/// How long it took, or has taken so far.
fn took(span: &Span) -> String {
    let ended = span.ended.unwrap_or_else(|| Timestamp::now().as_millisecond());
    let milliseconds = (ended - span.begun).max(0);
    let shown = match milliseconds {
        ..1_000 => format!("{milliseconds}ms"),
        1_000..60_000 => format!("{}.{}s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => lasting(milliseconds / 1_000),
    };
    if span.ended.is_some() { shown } else { format!("{shown} so far") }
}

/// What came of it, in a few words.
fn outcome(span: &Span) -> String {
    let words = [
        "countersign.run.status",
        "countersign.task.status",
        "countersign.task.assurance",
        "countersign.attempt.owner",
        "countersign.attempt.outcome",
        "countersign.gate.verdict",
        "countersign.delegation.status",
        "countersign.code",
        "error.type",
    ];
    let mut said: Vec<String> = words.iter().filter_map(|name| span.said(name)).map(str::to_owned).collect();
    let count = |name: &str| match span.attribute(name) {
        Some(Worth::Count(count)) => Some(*count),
        _ => None,
    };
    let (read, wrote) = (count("gen_ai.usage.input_tokens"), count("gen_ai.usage.output_tokens"));
    if read.or(wrote).is_some() {
        said.push(format!("{} tokens read, {} written", read.unwrap_or(0), wrote.unwrap_or(0)));
    }
    said.join(", ")
}
