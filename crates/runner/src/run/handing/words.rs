//! What a task hands over, from what the ledger has of it: what was found about it first, then what its agent says.

use super::{session, trace};
use crate::content::{self, Content};
use crate::handoff::Words;
use crate::run::{Note, Run};
use countersign_contract::{Form, parse};
use countersign_domain::plan::payload::HandoffEdge;
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// How many lines of a worklog are looked at for decisions.
const LINES_MAX: usize = 200;
/// How long hashing what was changed may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long one piece of evidence may be here; it stands whole in the ledger.
const EVIDENCE_MAX: usize = 1000;

/// What is said about the handoff of an edge. Long texts are texts and not lists, so that they can be shortened.
pub(super) fn of(run: &Run<'_>, edge: &HandoffEdge, now: jiff::Timestamp) -> Result<Words, String> {
    let task = edge.from.as_str();
    if run.setup.plan.tasks.iter().any(|it| it.id == edge.from && it.is_delegate()) {
        let (working, summary) = super::words_of_action::of(run, edge)?;
        let payload = json!({ "working": working });
        return Ok(said(
            run,
            edge,
            now,
            Said { summary, payload, from: json!({ "handoff": {} }), assurance: "verified" },
        ));
    }
    let gate = run.desk.look("gate.status", &run.desk.of_task(task))?;
    let shown = run.desk.look("task.show", &run.desk.of_task(task))?;
    let result = result(run, &gate);
    let title = gate["title"].as_str().unwrap_or_default();
    let assurance = shown["task"]["assurance"].as_str().unwrap_or("verified");
    let changed = changed(run, &gate, result.as_ref());
    let mut not_checked = not_checked(&gate);
    if result.is_none() {
        not_checked.push("what its agent said was erased".to_owned());
    }
    let own = own_words(run, task, result.as_ref());
    let mut working = Map::new();
    let mut put = |name: &str, value: Value| {
        if !value.is_null() && value != json!("") && value != json!({}) {
            working.insert(name.to_owned(), value);
        }
    };
    put("task", json!(task));
    put("title", json!(title));
    put("assurance", json!(assurance));
    put("commit", gate["bound"].clone());
    put("criteria", json!(criteria(&gate).join("\n")));
    put("not_checked", json!(not_checked.join("\n")));
    put("decisions", json!(decisions(run, task).join("\n")));
    put("notes", json!(notes(result.as_ref()).join("\n")));
    put("from_agent", own.working);
    let mut payload = json!({ "working": working });
    let mut session_tier = json!({});
    if !changed.is_empty() {
        session_tier["artifacts"] = json!(changed);
    }
    if own.state.is_object() {
        session_tier["state"] = own.state;
    }
    if session_tier != json!({}) {
        payload["session"] = session_tier;
    }
    if own.references.is_object() {
        payload["references"] = own.references;
    }
    let files = if changed.len() == 1 { "1 file".to_owned() } else { format!("{} files", changed.len()) };
    let summary = own.summary.unwrap_or_else(|| format!("{task} ({title}) is done ({assurance}); {files} changed."));
    // Names of people's own making stand beside what was found, never in its place.
    let mut from = json!({ "handoff": { "context": {} } });
    for (name, list) in [("focus_areas", own.focus_areas), ("known_gaps", own.known_gaps)] {
        if list.is_array() {
            from["handoff"]["context"][name] = list;
        }
    }
    Ok(said(run, edge, now, Said { summary, payload, from, assurance }))
}

/// What a task hands over, before it is put into a handoff.
struct Said<'a> {
    summary: String,
    payload: Value,
    /// What else the handoff begins with.
    from: Value,
    assurance: &'a str,
}

fn said(run: &Run<'_>, edge: &HandoffEdge, now: jiff::Timestamp, said: Said<'_>) -> Words {
    let Said { summary, payload, from, assurance } = said;
    let expires = edge.expires.as_ref().map(|span| jiff::SignedDuration::from_secs(span.seconds()));
    Words {
        from: Some(from),
        source: Some(edge.from.as_str().to_owned()),
        target: Some(edge.to.as_str().to_owned()),
        summary: Some(summary),
        problem_type: Some(edge.problem_type.as_ref().map_or("implementation", |it| it.as_str()).to_owned()),
        payload: Some(payload),
        trace: Some(trace(run, edge)),
        session_path: Some(session(run)),
        workflow_id: run.setup.run.get(..8).map(str::to_owned),
        phase: Some("done".to_owned()),
        confidence: Some(if assurance == "verified" { "high" } else { "medium" }.to_owned()),
        reason: edge.reason.as_ref().map(|reason| reason.as_str().to_owned()),
        approved: edge.approved == Some(true),
        expires_at: expires.and_then(|span| now.checked_add(span).ok()),
    }
}

/// The result of the source's agent. None, if it was erased.
fn result(run: &Run<'_>, gate: &Value) -> Option<Value> {
    let text = run.desk.text(gate["claim"].as_u64()?).ok()?;
    let read = parse(&text, Form::of_text(&text), usize::MAX).ok()?;
    Some(read.root().to_value())
}

/// Each criterion, with what was found about it.
fn criteria(gate: &Value) -> Vec<String> {
    let word = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for criterion in gate["criteria"].as_array().into_iter().flatten() {
        let id = word(criterion, "id");
        let mut line = format!("{id} {}: {}", word(criterion, "status"), word(criterion, "description"));
        for verdict in gate["verdicts"].as_array().into_iter().flatten() {
            let response: Value =
                verdict["response"].as_str().and_then(|it| serde_json::from_str(it).ok()).unwrap_or_default();
            let results = response["criteria_results"].as_array().into_iter().flatten();
            for found in results.filter(|it| it["criterion_id"] == id.as_str()) {
                let evidence: String = word(found, "evidence").chars().take(EVIDENCE_MAX).collect();
                line.push_str(&format!(" [{}: {evidence}]", word(verdict, "validator")));
            }
        }
        lines.push(line);
    }
    lines
}

/// What nobody has seen, and what was accepted all the same.
fn not_checked(gate: &Value) -> Vec<String> {
    let accepted: Vec<&str> = gate["accepted"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut lines = Vec::new();
    for criterion in gate["criteria"].as_array().into_iter().flatten() {
        let id = criterion["id"].as_str().unwrap_or_default();
        let status = criterion["status"].as_str().unwrap_or("nothing");
        if accepted.contains(&id) {
            let by = gate["accepted_by"].as_str().unwrap_or("a person");
            lines.push(format!("{id} does not hold, and was accepted by {by}"));
        } else if status != "PASS" {
            lines.push(format!("{id} was found as {status}"));
        } else if criterion["asks"] == "statement" {
            lines.push(format!("{id} rests on somebody's word"));
        }
    }
    lines
}

/// What was decided on the way, as the worklog has it. What the agent said to standard error stands there too, and is no
/// decision.
fn decisions(run: &Run<'_>, task: &str) -> Vec<String> {
    let mut question = run.desk.of_task(task);
    question["limit"] = json!(LINES_MAX);
    let shown = run.desk.look("worklog.show", &question).unwrap_or_default();
    let lines = shown["lines"].as_array().into_iter().flatten().filter(|line| line["action"] != "standard error");
    let entries = lines.filter_map(|line| serde_json::from_str::<Value>(line["entry"].as_str()?).ok());
    entries
        .filter_map(|entry| Some(entry["decision"].as_str()?.to_owned()))
        .filter(|it| !it.trim().is_empty())
        .collect()
}

fn notes(result: Option<&Value>) -> Vec<String> {
    let notes = result.and_then(|result| result["notes_for_orchestrator"].as_array());
    notes.into_iter().flatten().filter_map(|note| note.as_str().map(str::to_owned)).collect()
}

/// What was changed, with the hash of what lies there now.
fn changed(run: &Run<'_>, gate: &Value, result: Option<&Value>) -> Vec<Value> {
    let task = gate["task_id"].as_str().unwrap_or_default();
    let commit = gate["bound"].as_str().filter(|_| run.ground.trees().is_some());
    let seen = commit.and_then(|commit| run.ground.change(commit, task).ok()).map(|(_, changed)| changed);
    let declared = || {
        let changes = result.and_then(|it| it["changes"].as_array().or_else(|| it["files_touched"].as_array()));
        let path = |it: &Value| it["resource"].as_str().or_else(|| it.as_str()).map(str::to_owned);
        changes.into_iter().flatten().filter_map(path).collect()
    };
    let until = Instant::now() + PATIENCE;
    let artifact = |path: String| {
        let mut artifact = json!({ "name": path, "path": path, "type": kind(&path) });
        match content::of(&run.ground.root().join(&path), until) {
            Some(Content::Hash(hash)) => artifact["checksum"] = json!(format!("sha256:{hash}")),
            Some(Content::Gone) => artifact["description"] = json!("deleted"),
            Some(Content::Folder) | None => {}
        }
        artifact
    };
    seen.unwrap_or_else(declared).into_iter().map(artifact).collect()
}

/// What a file is, by the end of its name.
fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("md" | "txt" | "rst" | "adoc") => "documentation",
        Some("json" | "yaml" | "yml" | "csv" | "toml" | "jsonl") => "data",
        _ => "code",
    }
}

/// What an agent wants to have handed over, as it says under `x_handoff`.
#[derive(Default)]
struct Own {
    summary: Option<String>,
    working: Value,
    state: Value,
    references: Value,
    focus_areas: Value,
    known_gaps: Value,
}

fn own_words(run: &Run<'_>, task: &str, result: Option<&Value>) -> Own {
    let said = result.map_or(&Value::Null, |result| &result["x_handoff"]);
    let Value::Object(said) = said else {
        if !said.is_null() {
            let text = "what its agent says under `x_handoff` is no object, and is left out";
            run.note(&Note::Flag { task, text });
        }
        return Own::default();
    };
    let mut rest = said.clone();
    let mut take = |name: &str| rest.shift_remove(name).unwrap_or_default();
    let mut own = Own {
        summary: take("summary").as_str().map(str::to_owned).filter(|it| !it.trim().is_empty()),
        working: take("working"),
        state: take("session"),
        references: take("references"),
        focus_areas: take("focus_areas"),
        known_gaps: take("known_gaps"),
    };
    // A draft may be a payload with its tiers, or just what the next one should know.
    own.working = match (own.working.take(), rest.is_empty()) {
        (Value::Null, _) => Value::Object(rest),
        (working @ Value::Object(_), true) => working,
        (working, _) => json!({ "working": working, "more": rest }),
    };
    own
}
