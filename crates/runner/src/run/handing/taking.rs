//! Taking over: what was sent to a task is received before its agent begins, or its task waits for a person.

use super::giving::make_and_send;
use super::{ask_person, edges, noted, sent, session, trace, was_asked};
use crate::files;
use crate::handoff::kept;
use crate::run::no::No;
use crate::run::{Note, Run};
use countersign_contract::SIZE_MAX;
use countersign_domain::handoff::noting::note;
use countersign_domain::handoff::payload::EventType;
use countersign_domain::plan::payload::{HandoffEdge, PlannedTask};
use countersign_domain::work::task_state::TaskStatus;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What a person can do about a handoff that is not what it should be.
const CURE: &str = "unblock it to have it made anew";

/// Receives everything that is handed to a task. Says whether its agent may begin.
pub(in crate::run) fn take(run: &Run<'_>, task: &PlannedTask) -> bool {
    let own = edges(run, |edge| edge.to == task.id);
    // Work that is done already only goes on through its gates.
    if own.is_empty() || run.desk.claim(task.id.as_str()).is_ok_and(|claim| claim.is_some()) {
        return true;
    }
    own.into_iter().all(|(number, edge)| {
        let _turn = run.handing.turn(number);
        // Whoever made it may have had to ask a person in the meantime.
        let row = run.desk.row(task.id.as_str());
        if !row.is_ok_and(|row| row.is_some_and(|it| it.status == TaskStatus::Todo)) {
            return false;
        }
        match arrive(run, edge, task.agent.as_str()) {
            Ok(()) => true,
            Err(no) => {
                noted(run, edge, task.agent.as_str(), Err(&no));
                ask_person(run, edge, &no);
                false
            }
        }
    })
}

fn arrive(run: &Run<'_>, edge: &HandoffEdge, worker: &str) -> Result<(), No> {
    let Some(step) = sent(run, edge)? else {
        make_and_send(run, edge)?;
        return receive_last(run, edge, worker);
    };
    match receive(run, edge, &step, worker) {
        Err(no) if no.code.is_some() && was_asked(run, edge, step["sent"].as_u64().unwrap_or(0))? => {
            // Somebody has said that it goes on, which it cannot with that one.
            run.note(&Note::Flag { task: edge.to.as_str(), text: &format!("made anew, since {}", no.reason) });
            make_and_send(run, edge)?;
            receive_last(run, edge, worker)
        }
        received => received,
    }
}

fn receive_last(run: &Run<'_>, edge: &HandoffEdge, worker: &str) -> Result<(), No> {
    match sent(run, edge)? {
        Some(step) => receive(run, edge, &step, worker),
        None => Err(No::from("was sent and is not in the ledger".to_owned())),
    }
}

/// Receives a handoff in the name of the target's agent: the file as it lies there, or what the ledger has if it is gone.
fn receive(run: &Run<'_>, edge: &HandoffEdge, step: &Value, worker: &str) -> Result<(), No> {
    let trace = trace(run, edge);
    let shown = run.desk.look("handoff.show", &json!({ "trace_id": trace, "step": step["step"] })).map_err(No::from)?;
    let Some(document) = shown["document"].as_str() else {
        let reason = format!("was erased after it was sent; {CURE}");
        return Err(No::filed("DEPENDENCY_NOT_MET", reason));
    };
    let document: Value = serde_json::from_str(document).unwrap_or_default();
    if let Some(expired) = expired(edge, step) {
        let reason = format!("was refused: ignored_stale: it expired at {expired}; {CURE}");
        return Err(No::filed("SCHEMA_INVALID", reason));
    }
    let file = lies(run, edge, step);
    if file.is_none() {
        let text = "the file of the handoff is gone; it is taken from the ledger, as it was sent";
        run.note(&Note::Flag { task: edge.to.as_str(), text });
    }
    let (path, text) = file.unzip();
    must_fit(run, edge, step)?;
    let kept = kept::sums(&document, path.as_deref().unwrap_or(Path::new("")), Some(run.setup.root));
    must_be_kept(&document, step, &kept)?;
    let request = json!({
        "trace_id": trace, "skill": edge.to, "file": path.as_ref().map(|it| it.display().to_string()), "handoff": text,
        "kept": kept, "run_id": run.setup.run,
    });
    run.desk
        .ask_as(worker, None, "handoff.receive", &request)
        .map_err(|no| No { reason: format!("was refused: {}; {CURE}", in_short(&no.reason)), ..no })?;
    if let (Some(path), Some(text)) = (&path, &text) {
        note_in_file(run, edge, path, text);
    }
    let hash = shown["payload_hash"].as_str().unwrap_or_default();
    let number = step["step"].as_u64().unwrap_or(0);
    run.note(&Note::Received { task: edge.to.as_str(), from: edge.from.as_str(), step: number, hash });
    Ok(())
}

/// A person may have sent one in the place of another. The budget of the plan holds for it too.
fn must_fit(run: &Run<'_>, edge: &HandoffEdge, step: &Value) -> Result<(), No> {
    let most = edge.max_tokens.map_or(i64::MAX, |tokens| tokens.get());
    let most = u64::try_from(most).unwrap_or(u64::MAX).min(run.setup.world.checker().settings.tokens_max as u64);
    let tokens = step["tokens"].as_u64().unwrap_or(u64::MAX);
    if tokens <= most {
        return Ok(());
    }
    let reason = format!("has {tokens} tokens, and may have {most}; {CURE}");
    Err(No::filed("TOKEN_LIMIT_EXCEEDED", reason))
}

/// What was taken out of it is there, and what it was when it was sent.
fn must_be_kept(document: &Value, step: &Value, kept: &[Value]) -> Result<(), No> {
    for name in kept::names(document) {
        let Some(is) = kept.iter().find(|it| it["path"] == name) else {
            let reason = format!("lost what was taken out of it: {name} is gone; bring it back, or {CURE}");
            return Err(No::filed("DEPENDENCY_NOT_MET", reason));
        };
        let redacted = countersign_contract::scan::redact(name).unwrap_or_else(|| name.to_owned());
        let was = step["sums"].as_array().into_iter().flatten().find(|it| it["path"] == redacted.as_str());
        if was.is_none_or(|was| was["sha256"] != is["sha256"] || was["bytes"] != is["bytes"]) {
            let reason = format!("was refused: hash_mismatch: {name} is not what was taken out of it; {CURE}");
            return Err(No::filed("INTEGRITY_MISMATCH", reason));
        }
    }
    Ok(())
}

/// When a handoff has expired, if it has, by the plan that it belongs to.
fn expired(edge: &HandoffEdge, step: &Value) -> Option<jiff::Timestamp> {
    let made: jiff::Timestamp = step["made"].as_str()?.parse().ok()?;
    let end = made.checked_add(jiff::SignedDuration::from_secs(edge.expires.as_ref()?.seconds())).ok()?;
    (end <= jiff::Timestamp::now()).then_some(end)
}

/// A refusal without its findings, which say the same once more.
fn in_short(reason: &str) -> &str {
    reason.split_once(" (/").map_or(reason, |(reason, _)| reason)
}

/// The file of a handoff that was sent, and what it says. It is known by its name, and by when it was made.
fn lies(run: &Run<'_>, edge: &HandoffEdge, step: &Value) -> Option<(PathBuf, String)> {
    let beginning = format!("{}-to-{}-", edge.from, edge.to);
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with(&beginning) && name.ends_with(".json")
        })
    };
    let entries = std::fs::read_dir(session(run).join("handoffs")).ok()?.flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_own).collect();
    paths.sort();
    paths.into_iter().find_map(|path| {
        let text = String::from_utf8(files::read_regular(&path, SIZE_MAX).ok()?).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        (value.pointer("/handoff/timestamp") == Some(&step["made"])).then_some((path, text))
    })
}

/// Notes in the file that it was received, once, if there is room.
fn note_in_file(run: &Run<'_>, edge: &HandoffEdge, path: &Path, text: &str) {
    let mut value: Value = serde_json::from_str(text).unwrap_or_default();
    let events = value.pointer("/handoff/tracing/events").and_then(Value::as_array);
    if events.into_iter().flatten().any(|event| event["event_type"] == EventType::Received.as_str()) {
        return;
    }
    let checker = run.setup.world.checker();
    let noted = note(&mut value, EventType::Received, edge.to.as_str(), jiff::Timestamp::now(), checker.settings);
    if noted && let Err(error) = files::write(path, &format!("{value:#}\n")) {
        let text = format!("going on without the note in the file that it was received: {error:#}");
        run.note(&Note::Flag { task: edge.to.as_str(), text: &text });
    }
}
