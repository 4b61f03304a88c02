//! Drafting a handoff: what was said on the command line, over what was begun with, over defaults.

use super::make::Args;
use super::onward::{Document, show_refused};
use super::tiers;
use crate::cli::asking::{Here, line, refused, wrong};
use crate::cli::output::{self, Format};
use crate::client::Client;
use anyhow::Context;
use countersign_diagnostic::Source;
use countersign_domain::handoff::noting::stamp;
use countersign_domain::handoff::payload::TraceId;
use serde_json::{Map, Value, json};
use std::path::Path;

/// What came of it.
pub enum Drafted {
    /// The draft. It may still be too long, or miss what only its author knows.
    Draft(Box<Value>),
    /// What it was to begin with may not be used. That was said.
    Refused,
}

/// Stands where a hash will be until the document is sealed.
const NO_HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// Drafts a handoff.
pub fn of(args: &Args, here: &Here<'_>) -> anyhow::Result<Drafted> {
    let begun = match &args.from {
        None => None,
        Some(path) => match begin(args, here, path)? {
            Some(value) => Some(value),
            None => return Ok(Drafted::Refused),
        },
    };
    let is_begun = begun.is_some();
    let mut value = begun.unwrap_or_else(|| json!({ "handoff": {} }));
    let before = value.pointer("/handoff/source/skill").and_then(Value::as_str).map(str::to_owned);
    if let (Some(before), Some(source)) = (&before, &args.source)
        && before != source
    {
        pass_on(&mut value);
    }
    let trace = trace(args, &value, is_begun)?;
    said(args, &mut value)?;
    if !args.payload.is_empty() {
        value["handoff"]["payload"] = tiers::of(&args.payload, here)?;
    }
    defaults(args, here, &mut value, &trace);
    if !chain(args, here, &mut value, &trace, is_begun)? {
        return Ok(Drafted::Refused);
    }
    created(&mut value);
    order(&mut value);
    if value["handoff"]["version"] == "3.0" {
        countersign_domain::contract("universal_handoff").into_iter().for_each(|it| (it.seal)(&mut value));
    }
    Ok(Drafted::Draft(Box::new(value)))
}

/// What was begun with. A document that vouches for another payload than it has is not gone on from.
fn begin(args: &Args, here: &Here<'_>, path: &Path) -> anyhow::Result<Option<Value>> {
    let format = args.how.format;
    let Some(document) = Document::read(here, path, format)? else {
        output::say("the draft is no handoff that can be read; make it again without --from");
        return Ok(None);
    };
    let source = Source { name: &document.input.name, text: &document.text };
    let checked = super::checked(here.project, source, document.path());
    let findings = &checked.decision.details.diagnostics;
    if findings.iter().any(|it| it.rule == "payload-hash-mismatch") && args.payload.is_empty() {
        show_refused(here, &document.input, &document.text, format);
        return Ok(None);
    }
    Ok(Some(document.value))
}

/// A handoff that was received becomes the draft of the next one: what spoke of that step alone does not speak of this one. How
/// that one came stands in it and in the ledger; carried along, it would take up more of the budget with every step.
fn pass_on(value: &mut Value) {
    let mut drop = |at: &str, keys: &[&str]| {
        if let Some(object) = value.pointer_mut(at).and_then(Value::as_object_mut) {
            keys.iter().for_each(|key| {
                object.shift_remove(*key);
            });
        }
    };
    drop("/handoff", &["expires_at", "target"]);
    drop("/handoff/source", &["workflow_id", "session_path", "phase"]);
    drop("/handoff/meta", &["handoff_reason", "user_approved", "confidence"]);
    drop("/handoff/tracing", &["events"]);
}

fn trace(args: &Args, value: &Value, is_begun: bool) -> anyhow::Result<Option<String>> {
    if let Some(trace) = &args.trace {
        TraceId::parse(trace).ok_or_else(|| wrong(format!("`{trace}` is no trace id: a UUID in lower case")))?;
        return Ok(Some(trace.clone()));
    }
    let written = value.pointer("/handoff/trace_id").filter(|it| !it.is_null());
    if written.is_none() && is_begun {
        output::say("warning: the draft has no trace_id, as handoffs of old; one was generated");
    }
    Ok(written.and_then(Value::as_str).map(str::to_owned))
}

/// Puts what was said on the command line into its place.
fn said(args: &Args, value: &mut Value) -> anyhow::Result<()> {
    let words = [
        ("source", "skill", &args.source),
        ("source", "workflow_id", &args.workflow_id),
        ("source", "phase", &args.phase),
        ("target", "skill", &args.target),
        ("context", "summary", &args.summary),
        ("context", "problem_type", &args.problem_type),
        ("meta", "confidence", &args.confidence),
        ("meta", "handoff_reason", &args.reason),
    ];
    for (part, field, word) in words {
        if let Some(word) = word {
            part_of(value, part)?.insert(field.to_owned(), json!(word));
        }
    }
    if args.approved {
        part_of(value, "meta")?.insert("user_approved".to_owned(), json!(true));
    }
    if let Some(time) = args.expires_at {
        value["handoff"]["expires_at"] = json!(stamp(time));
    }
    Ok(())
}

/// A part of the handoff, which is begun if it is not there.
fn part_of<'v>(value: &'v mut Value, part: &str) -> anyhow::Result<&'v mut Map<String, Value>> {
    let handoff = value["handoff"].as_object_mut().context("the draft is no handoff")?;
    let found = handoff.entry(part).or_insert_with(|| json!({})).as_object_mut();
    found.with_context(|| format!("`{part}` of the draft is no object; mend it first"))
}

/// Fills in what can be known without asking anybody.
fn defaults(args: &Args, here: &Here<'_>, value: &mut Value, trace: &Option<String>) {
    let trace = trace.clone().unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let handoff = &mut value["handoff"];
    let absent = |it: &Value| it.is_null() || it.as_str().is_some_and(|it| it.trim().is_empty());
    let mut fill = |part: Option<&str>, field: &str, default: Value| {
        let owner = match part {
            Some(part) => &mut handoff[part],
            None => &mut *handoff,
        };
        if (owner.is_object() || owner.is_null()) && absent(&owner[field]) {
            owner[field] = default;
        }
    };
    fill(None, "version", json!("3.0"));
    fill(None, "schema_type", json!("universal"));
    // Short, because it counts: the trace itself stands in the handoff already.
    let workflow: String = trace.chars().take(8).collect();
    fill(Some("source"), "workflow_id", json!(workflow));
    fill(Some("source"), "phase", json!("handoff"));
    fill(Some("meta"), "token_count", json!(0));
    fill(Some("meta"), "confidence", json!("medium"));
    fill(Some("meta"), "payload_hash", json!(NO_HASH));
    fill(Some("meta"), "payload_size_bytes", json!(0));
    if !handoff["source"]["session_path"].is_string() || args.session_path.is_some() {
        let session = super::placing::session(args, here, &workflow);
        if handoff["source"].is_object() {
            handoff["source"]["session_path"] = json!(session);
        }
    }
    handoff["trace_id"] = json!(trace);
    handoff["timestamp"] = json!(stamp(jiff::Timestamp::now()));
}

/// Writes the chain down: as the ledger knows it, where it knows the trace; otherwise as the draft has it, with the source at
/// its end. Whether the source may go on from there.
fn chain(
    args: &Args,
    here: &Here<'_>,
    value: &mut Value,
    trace: &Option<String>,
    is_begun: bool,
) -> anyhow::Result<bool> {
    let Some(source) = value.pointer("/handoff/source/skill").and_then(Value::as_str).map(str::to_owned) else {
        return Ok(true);
    };
    let has_ledger = here.project.root.is_some() || here.global.ledger.is_some() || here.global.server.is_some();
    let known = trace.as_deref().and_then(TraceId::parse).filter(|_| has_ledger || args.trace.is_some());
    let mut recorded = None;
    if let Some(trace) = known {
        let client = Client::open(here.project, here.global)?;
        let question = json!({ "trace_id": trace, "source": source });
        match client.look("handoff.chain", &question) {
            Ok(shown) if shown["barred"].is_string() => {
                let (code, why) = (shown["code"].as_str(), shown["barred"].as_str());
                let (code, why) = (code.unwrap_or_default(), why.unwrap_or_default());
                match args.how.format {
                    Format::Json => output::print(&line(&json!({ "allow": false, "code": code, "reason": why }))),
                    Format::Text => output::say(&format!("refused [{code}]: {why}")),
                }
                return Ok(false);
            }
            Ok(shown) if shown["steps"].as_array().is_some_and(|steps| !steps.is_empty()) => {
                recorded = Some(shown["next"].clone());
            }
            Ok(_) => {}
            Err(failure) => return refused(failure, args.how.format).map(|_| false),
        }
    }
    let meta = part_of(value, "meta")?;
    let chain = match (recorded, meta.get("handoff_chain").and_then(Value::as_array)) {
        (Some(recorded), _) => recorded,
        (None, Some(written)) if is_begun => {
            let mut chain = written.clone();
            if chain.last() != Some(&json!(source)) {
                chain.push(json!(source));
            }
            json!(chain)
        }
        _ => json!([source]),
    };
    meta.insert("handoff_chain".to_owned(), chain);
    Ok(true)
}

/// The trace begins with the note that the source made it.
fn created(value: &mut Value) {
    let handoff = &mut value["handoff"];
    let (time, source) = (handoff["timestamp"].clone(), handoff["source"]["skill"].clone());
    let Some(tracing) = handoff.as_object_mut().map(|it| it.entry("tracing").or_insert_with(|| json!({}))) else {
        return;
    };
    let events = tracing.as_object_mut().map(|it| it.entry("events").or_insert_with(|| json!([])));
    if let (Some(events), true) = (events.and_then(Value::as_array_mut), source.is_string()) {
        events.push(json!({ "timestamp": time, "event_type": "created", "workflow": source }));
    }
}

/// Puts the parts into the order in which people read them. Those that no handoff has come last.
fn order(value: &mut Value) {
    const PARTS: [&str; 11] = [
        "version",
        "schema_type",
        "timestamp",
        "expires_at",
        "trace_id",
        "source",
        "target",
        "context",
        "payload",
        "meta",
        "tracing",
    ];
    if let Some(handoff) = value["handoff"].as_object_mut() {
        let mut rest = std::mem::take(handoff);
        let known = PARTS.iter().filter_map(|part| rest.shift_remove_entry(*part)).collect::<Vec<_>>();
        handoff.extend(known.into_iter().chain(rest));
    }
}
