//! What a client is answered, in the form that both of them take.

use serde_json::{Value, json};

/// An answer to a hook.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What goes to standard output.
    pub out: Value,
    /// What goes to standard error; the exit code then blocks.
    pub err: Option<String>,
}

/// How long a reason may be: clients put longer ones aside.
const REASON_MAX: usize = 4000;

impl Answer {
    /// No opinion: what the client and its user decide stands.
    pub fn nothing() -> Self {
        Self { out: json!({}), err: None }
    }

    /// The tool may not be used so.
    pub fn deny(reason: &str) -> Self {
        let out = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": short(reason),
        } });
        Self { out, err: None }
    }

    /// The session goes on, and is told why.
    pub fn block(reason: &str) -> Self {
        Self { out: json!({ "decision": "block", "reason": short(reason) }), err: None }
    }

    /// Something for the agent to know.
    pub fn context(event: &str, text: &str) -> Self {
        Self { out: json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } }), err: None }
    }

    /// Something for the user to know.
    pub fn message(text: &str) -> Self {
        Self { out: json!({ "systemMessage": short(text) }), err: None }
    }

    /// A refusal for when it is not known what was asked: standard error, and the exit code that blocks.
    pub fn refuse(reason: &str) -> Self {
        Self { out: Value::Null, err: Some(short(reason)) }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(REASON_MAX) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
