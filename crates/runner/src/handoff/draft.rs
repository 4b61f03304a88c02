//! Drafting a handoff: what was said, over what was begun with, over what can be known without asking anybody.

use super::{Chain, Making};
use countersign_domain::handoff::noting::stamp;
use countersign_domain::handoff::payload::TraceId;
use countersign_domain::handoff::route::UNAPPROVED_MAX;
use countersign_engine::Failure;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What is said about a handoff. What is not said is as in what it begins with, or filled in.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// What it begins with: a draft, or the one that was received before.
    pub from: Option<Value>,
    /// Who hands over.
    pub source: Option<String>,
    /// Who takes over.
    pub target: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// What sort of problem it is.
    pub problem_type: Option<String>,
    /// What is handed over, in tiers.
    pub payload: Option<Value>,
    /// The trace that it goes on with.
    pub trace: Option<String>,
    /// The directory of the session, from where one stands.
    pub session_path: Option<PathBuf>,
    /// The run of the source.
    pub workflow_id: Option<String>,
    /// Where in its work the source stands.
    pub phase: Option<String>,
    /// How sure the source is.
    pub confidence: Option<String>,
    /// Why it is handed over.
    pub reason: Option<String>,
    /// Whether a person agreed.
    pub approved: bool,
    /// From when on nobody may act on it.
    pub expires_at: Option<jiff::Timestamp>,
}

/// Why there is no draft.
#[derive(Debug)]
pub enum Undrafted {
    /// The recorded chain does not let the source hand it on.
    Barred {
        /// What that is filed under.
        code: String,
        /// Why.
        why: String,
    },
    /// The ledger did not say what the chain is.
    Unasked(Failure),
    /// What it begins with cannot be used.
    Unusable(String),
}

/// Stands where a hash will be until the document is sealed.
const NO_HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

impl Making<'_> {
    /// Drafts a handoff. It may still be too long, or miss what only its author knows.
    ///
    /// # Errors
    /// The source may not hand it on, or what it begins with is no handoff.
    pub fn draft(&self, words: &Words) -> Result<Value, Undrafted> {
        let is_begun = words.from.is_some();
        let mut value = words.from.clone().unwrap_or_else(|| json!({ "handoff": {} }));
        if !value["handoff"].is_object() {
            return Err(Undrafted::Unusable("the draft is no handoff".to_owned()));
        }
        let before = value.pointer("/handoff/source/skill").and_then(Value::as_str).map(str::to_owned);
        if let (Some(before), Some(source)) = (&before, &words.source)
            && before != source
        {
            pass_on(&mut value);
        }
        let trace = self.trace(words, &value, is_begun);
        said(words, &mut value)?;
        if let Some(payload) = &words.payload {
            value["handoff"]["payload"] = payload.clone();
        }
        self.defaults(words, &mut value, &trace);
        self.chain(&mut value, &trace, is_begun)?;
        created(&mut value);
        order(&mut value);
        if value["handoff"]["version"] == "3.0" {
            countersign_domain::contract("universal_handoff").into_iter().for_each(|it| (it.seal)(&mut value));
        }
        Ok(value)
    }

    fn trace(&self, words: &Words, value: &Value, is_begun: bool) -> Option<String> {
        if let Some(trace) = &words.trace {
            return Some(trace.clone());
        }
        let written = value.pointer("/handoff/trace_id").filter(|it| !it.is_null());
        if written.is_none() && is_begun {
            (self.warn)("the draft has no trace_id, as handoffs of old; one was generated");
        }
        written.and_then(Value::as_str).map(str::to_owned)
    }

    /// Fills in what can be known without asking anybody.
    fn defaults(&self, words: &Words, value: &mut Value, trace: &Option<String>) {
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
        if !handoff["source"]["session_path"].is_string() || words.session_path.is_some() {
            let session = super::placing::session(words.session_path.as_deref(), self.root, &workflow);
            if handoff["source"].is_object() {
                handoff["source"]["session_path"] = json!(session);
            }
        }
        handoff["trace_id"] = json!(trace);
        handoff["timestamp"] = json!(stamp(self.outside.now.unwrap_or_else(jiff::Timestamp::now)));
    }

    /// Writes the chain down: as the ledger knows it, where it knows the trace; otherwise as the draft has it, with the source
    /// at its end.
    fn chain(&self, value: &mut Value, trace: &Option<String>, is_begun: bool) -> Result<(), Undrafted> {
        let Some(source) = value.pointer("/handoff/source/skill").and_then(Value::as_str).map(str::to_owned) else {
            return Ok(());
        };
        let mut recorded = None;
        if let (Some(trace), Some(ask)) = (trace.as_deref().and_then(TraceId::parse), self.chain) {
            let shown =
                asked(ask, value, &json!({ "trace_id": trace, "source": source })).map_err(Undrafted::Unasked)?;
            if let Some(why) = shown["barred"].as_str().filter(|_| !shows_itself(&shown, value)) {
                let code = shown["code"].as_str().unwrap_or_default().to_owned();
                return Err(Undrafted::Barred { code, why: why.to_owned() });
            }
            if shown["steps"].as_array().is_some_and(|steps| !steps.is_empty()) {
                recorded = Some(shown["next"].clone());
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
        Ok(())
    }
}

/// What the ledger says of a handoff from a source to the target of a draft; from that source alone, where the target is no name.
fn asked(ask: Chain<'_>, value: &Value, question: &Value) -> Result<Value, Failure> {
    let mut whole = question.clone();
    let meta = &value["handoff"]["meta"];
    whole["target"] = value["handoff"]["target"]["skill"].clone();
    whole["reasoned"] = json!(meta["handoff_reason"].is_string());
    whole["approved"] = json!(meta["user_approved"] == true);
    if !whole["target"].is_string() {
        return ask(question);
    }
    match ask(&whole) {
        Err(Failure::Malformed(_)) => ask(question),
        shown => shown,
    }
}

/// Whether the document, with the chain that the ledger gives it, shows by itself why it may not go on: then it is reported with all
/// else that is wrong with it. Where a trace went on by several lines, the chain of one does not show it.
fn shows_itself(shown: &Value, value: &Value) -> bool {
    let Some(chain) = shown["next"].as_array() else { return false };
    let target = &value["handoff"]["target"]["skill"];
    chain.contains(target) || chain.len() > UNAPPROVED_MAX
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

/// Puts what was said into its place.
fn said(words: &Words, value: &mut Value) -> Result<(), Undrafted> {
    let all = [
        ("source", "skill", &words.source),
        ("source", "workflow_id", &words.workflow_id),
        ("source", "phase", &words.phase),
        ("target", "skill", &words.target),
        ("context", "summary", &words.summary),
        ("context", "problem_type", &words.problem_type),
        ("meta", "confidence", &words.confidence),
        ("meta", "handoff_reason", &words.reason),
    ];
    for (part, field, word) in all {
        if let Some(word) = word {
            part_of(value, part)?.insert(field.to_owned(), json!(word));
        }
    }
    if words.approved {
        part_of(value, "meta")?.insert("user_approved".to_owned(), json!(true));
    }
    if let Some(time) = words.expires_at {
        value["handoff"]["expires_at"] = json!(stamp(time));
    }
    Ok(())
}

/// A part of the handoff, which is begun if it is not there.
fn part_of<'v>(value: &'v mut Value, part: &str) -> Result<&'v mut Map<String, Value>, Undrafted> {
    let unusable = |why: String| Undrafted::Unusable(why);
    let handoff = value["handoff"].as_object_mut().ok_or_else(|| unusable("the draft is no handoff".to_owned()))?;
    let found = handoff.entry(part).or_insert_with(|| json!({})).as_object_mut();
    found.ok_or_else(|| unusable(format!("`{part}` of the draft is no object; mend it first")))
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
