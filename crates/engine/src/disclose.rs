//! What of an answer somebody may see: the last step of every road. Whoever is bound to a task sees the run that it is of;
//! of everything else only what they need to keep out of its way: that a path is held, and until when.
//!
//! **Invariant:** everything that leaves for somebody goes through here: what is shown, what was recorded, why it was refused.
//! **Absent on purpose:** decisions. What is decided rests on all that there is, whoever asks.

use crate::call::{Bound, Call, Failure, Reply};
use crate::stored::Stored;
use countersign_contract::Schemas;
use countersign_contract::diagnostic::Code;
use countersign_domain::deciding::Refusal;
use serde_json::{Map, Value};

/// What stands in the place of what is not said.
pub const WITHHELD: &str = "withheld";
/// Views of the whole project, for those who answer for it.
const OF_ALL: &[&str] = &["delegation.alerts", "delegation.next", "delegation.show", "inbox.list"];
/// What is said of another run all the same: where it works and until when, and what follows from that.
const SAID: &[&str] = &["code", "expires_at", "help", "path", "run_id"];

/// An event for somebody. One that they may not see is its number and its hash, so that the log has no gap.
pub(crate) fn event(call: &Call, event: Stored) -> Stored {
    let Some(bound) = &call.bound else { return event };
    // Others may act in the same name in other runs; what it did itself is of its own run, or of none.
    let run = event.text("run");
    if run == bound.run || (run.is_empty() && event.text("actor") == call.actor) {
        return event;
    }
    Stored::withheld(event.seq, event.hash)
}

/// What came of a command, for whoever asked for it.
pub(crate) fn reply(call: &Call, reply: Reply) -> Reply {
    Reply { events: reply.events.into_iter().map(|it| event(call, it)).collect(), ..reply }
}

/// Why something was not done, for whoever asked for it.
pub(crate) fn failure(call: &Call, failure: Failure) -> Failure {
    match (failure, &call.bound) {
        (Failure::Refused(mut refusal), Some(bound)) => {
            if let Some(told) = refusal.elsewhere.take().filter(|told| told.0 != bound.run) {
                refusal.reason = told.1;
            }
            Failure::Refused(refusal)
        }
        (failure, _) => failure,
    }
}

/// The question of somebody who is bound to a task: it means its run where it could name one and does not. Refused, if it
/// is about another run, about somebody else or about all of the project.
pub(crate) fn question(
    call: &Call,
    id: &str,
    schema: fn(&mut Schemas) -> Value,
    question: &str,
) -> Result<String, Refusal> {
    let Some(bound) = &call.bound else { return Ok(question.to_owned()) };
    let run = &bound.run;
    if OF_ALL.contains(&id) {
        return Err(refused(call, bound, id, "shows all of the project"));
    }
    let asked: Value = serde_json::from_str(question).unwrap_or_default();
    if asked.get("owner").is_some_and(|owner| *owner != call.actor) {
        return Err(refused(call, bound, id, "is asked about what somebody else holds"));
    }
    match (asked.get("run_id"), question.trim_end().strip_suffix('}')) {
        (Some(named), _) if named != run.as_str() => Err(refused(call, bound, id, "is asked about another one")),
        // At the end, and as it was written otherwise: what is wrong with it keeps its place.
        (None, Some(rest)) if has_field(schema, "run_id") => {
            let comma = if asked.as_object().is_none_or(Map::is_empty) { "" } else { "," };
            Ok(format!("{rest}{comma}\"run_id\":{}}}", Value::from(run.as_str())))
        }
        _ => Ok(question.to_owned()),
    }
}

fn has_field(schema: fn(&mut Schemas) -> Value, name: &str) -> bool {
    let mut schemas = Schemas::default();
    let schema = schema(&mut schemas);
    let defs = schemas.into_defs();
    let named = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
    let schema = named.and_then(|named| defs.get(named)).unwrap_or(&schema);
    schema["properties"].get(name).is_some()
}

fn refused(call: &Call, bound: &Bound, id: &str, what: &str) -> Refusal {
    let run = &bound.run;
    let reason = format!("{} may see run {run} alone, and `{id}` {what}", call.actor);
    let help = "ask about that run; the orchestrator sees the others";
    Refusal::new(Code::AuthorizationMissing, reason, help).of_run(run)
}

/// What is shown to somebody, or the refusal to show it. Lists are without what is not theirs to see; of locks, which they
/// have to keep out of the way of, only the names are left out.
pub(crate) fn shown(call: &Call, id: &str, mut value: Value) -> Result<Value, Refusal> {
    let Some(bound) = &call.bound else { return Ok(value) };
    match id {
        "lock.mine" => only_bound(bound, &mut value),
        "lock.may" => may_by_bound(call, bound, &mut value),
        _ => {}
    }
    let is_elsewhere = |value: &Value| value.as_object().is_some_and(|fields| is_elsewhere(fields, call, bound));
    if is_elsewhere(&value) && !is_lock(&value) {
        return Err(refused(call, bound, id, "tells of what is not in it"));
    }
    look_through(&mut value, &is_elsewhere);
    Ok(value)
}

/// Whether something is of the task that a caller is bound to.
fn is_of_bound(bound: &Bound, value: &Value) -> bool {
    value["run_id"] == bound.run.as_str() && value["task_id"] == bound.task.as_str()
}

/// Of what is held in the caller's name, what the task holds that they are bound to: the name may be another token's too.
fn only_bound(bound: &Bound, value: &mut Value) {
    if let Some(locks) = value["locks"].as_array_mut() {
        locks.retain(|lock| is_of_bound(bound, lock));
    }
}

/// A permission that rests on another task of the same name is none for whoever is bound to a task.
fn may_by_bound(call: &Call, bound: &Bound, value: &mut Value) {
    if value["allowed"] != true || value["task_id"].is_null() || is_of_bound(bound, value) {
        return;
    }
    let held = value["task_id"].as_str().unwrap_or_default();
    let reason = format!("{held} holds it, and {} may speak for {} alone", call.actor, bound.task);
    value["allowed"] = Value::from(false);
    value["code"] = Value::from(Code::LockConflict.as_str());
    value["reason"] = Value::from(reason);
    value["help"] = Value::from("change only what your own task holds; the orchestrator gives other tasks out");
}

fn look_through(value: &mut Value, is_elsewhere: &dyn Fn(&Value) -> bool) {
    let withheld = is_elsewhere(value);
    match value {
        Value::Object(fields) if withheld => withhold(fields),
        Value::Object(fields) => fields.values_mut().for_each(|it| look_through(it, is_elsewhere)),
        Value::Array(items) => {
            items.retain(|it| !is_elsewhere(it) || is_lock(it));
            items.iter_mut().for_each(|it| look_through(it, is_elsewhere));
        }
        _ => {}
    }
}

/// Whether something says of a path how it is held.
fn is_lock(value: &Value) -> bool {
    value["path"].is_string()
}

/// Whether something is of another run; or of none, and of somebody else: a promise of another, a handoff between others, and
/// what a handoff says.
fn is_elsewhere(fields: &Map<String, Value>, call: &Call, bound: &Bound) -> bool {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let inside = |name: &str| fields.get(name).and_then(Value::as_object);
    if let Some(run) = text("run_id") {
        return run != bound.run;
    }
    let owner = text("owned_by").or_else(|| inside("ownership")?.get("owned_by")?.as_str());
    let sides = ["sent_by", "received_by", "source", "target"];
    let is_others = text("sent_by").is_some() && !sides.iter().any(|side| text(side) == Some(&call.actor));
    let of_others = inside("step").is_some_and(|step| is_elsewhere(step, call, bound));
    is_others || of_others || owner.is_some_and(|owner| owner != call.actor)
}

fn withhold(fields: &mut Map<String, Value>) {
    for (_, value) in fields.iter_mut().filter(|(name, _)| !SAID.contains(&name.as_str())) {
        match value {
            Value::String(text) => *text = WITHHELD.to_owned(),
            Value::Array(items) => items.clear(),
            Value::Object(fields) => withhold(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
