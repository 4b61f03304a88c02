//! Notes as programs read them.

use countersign_runner::evidence::Status;
use countersign_runner::run::Note;
use serde_json::{Map, Value, json};

/// The name of a note for programs.
pub fn name(note: &Note<'_>) -> &'static str {
    match note {
        Note::Led => "run",
        Note::Told { .. } => "told",
        Note::Begun { .. } => "begun",
        Note::Awaited { .. } => "awaited",
        Note::Said { .. } => "said",
        Note::Ended { .. } => "ended",
        Note::Claimed { .. } => "claimed",
        Note::Seen { .. } => "seen",
        Note::Validated { .. } => "validated",
        Note::Judged { .. } => "judged",
        Note::Queued { .. } => "queued",
        Note::Landed { .. } => "landed",
        Note::Answered { .. } => "answered",
        Note::Handing { .. } => "handing",
        Note::Handed { .. } => "handed",
        Note::Received { .. } => "received",
        Note::Done { .. } => "done",
        Note::Again { .. } => "again",
        Note::Stopped { .. } => "stopped",
        Note::Flag { .. } => "flag",
        Note::Recovered { .. } => "recovered",
        Note::Swept { .. } => "swept",
        Note::Waiting { .. } => "waiting",
        Note::Tick { .. } => "tick",
    }
}

/// A note about a task: what its words say, each thing by its name, and the words.
pub fn of_task(note: &Note<'_>, task: &str, words: &str) -> Value {
    let mut whole = json!({ "note": name(note), "task_id": task, "text": words });
    if let Some(whole) = whole.as_object_mut() {
        whole.extend(fields(note));
    }
    whole
}

/// What a note has beside its task.
fn fields(note: &Note<'_>) -> Map<String, Value> {
    let fields = match note {
        Note::Begun { agent, attempt, lease, .. } => json!({ "agent": agent, "attempt": attempt, "lease": lease }),
        Note::Awaited { peer, what, .. } => json!({ "peer": peer, "what": what }),
        Note::Said { line, .. } => json!({ "line": line }),
        Note::Ended { how, took, .. } => {
            json!({ "how": how, "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX) })
        }
        Note::Claimed { changes, .. } => json!({ "changes": changes }),
        Note::Seen { criterion, kind, status, says, .. } => {
            json!({ "criterion": criterion, "kind": kind, "status": word(*status), "says": says })
        }
        Note::Validated { validator, verdict, said, only, open, .. } => {
            json!({ "validator": validator, "verdict": verdict, "said": said, "only": only, "open": open })
        }
        Note::Judged { by, verdict, .. } => json!({ "by": by, "verdict": verdict }),
        Note::Queued { behind, .. } => json!({ "behind": behind }),
        Note::Landed { commit, .. } => json!({ "commit": commit }),
        Note::Answered { instruction, status, entry, .. } => {
            json!({ "instruction_id": instruction, "status": status, "entry": entry })
        }
        Note::Handing { to, was, tokens, most, taken, kept_at, .. } => {
            json!({ "to": to, "was": was, "tokens": tokens, "most": most, "taken": taken, "kept_at": kept_at })
        }
        Note::Handed { to, step, .. } => json!({ "to": to, "step": step }),
        Note::Received { from, step, hash, .. } => json!({ "from": from, "step": step, "hash": hash }),
        Note::Done { assurance, .. } => json!({ "assurance": assurance }),
        Note::Again { reason, .. } | Note::Stopped { reason, .. } => json!({ "reason": reason }),
        _ => Value::Null,
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// What was found, as verdicts have it.
fn word(status: Status) -> &'static str {
    match status {
        Status::Pass => "PASS",
        Status::Fail => "FAIL",
        Status::Blocked => "BLOCKED",
        Status::Skip => "SKIP",
    }
}
