//! What `codex exec --json` writes: events as JSON Lines, as declared in `codex-rs/exec/src/exec_events.rs`.
//!
//! `thread.started{thread_id}`, `item.completed{item{type, …}}`, `turn.completed{usage}`, `turn.failed{error{message}}`
//! and `error{message}` are of use here. There is no figure for money, and the model is not named.

use super::usage::{Usage, count, name, sum};
use serde_json::Value;

/// Longer messages are no answers.
const MESSAGE_MAX: usize = 1 << 20;
/// How much of a complaint is repeated.
const SAID_MAX: usize = 500;

/// The items that are uses of tools.
const TOOLS: &[&str] = &["command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"];

/// What the events said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    usage: Usage,
    /// Whether any line was an event.
    seen: bool,
    /// The end of the last turn: none while it goes on.
    turn: Option<Result<(), String>>,
    /// The last message of the agent.
    message: Option<String>,
}

impl Events {
    pub(super) fn fold(&mut self, event: &Value) {
        let said = |value: Option<&Value>| {
            let text = value.and_then(|value| value.get("message")).and_then(Value::as_str);
            text.unwrap_or("it says no more").chars().take(SAID_MAX).collect::<String>()
        };
        let Some(kind) = event.get("type").and_then(Value::as_str) else { return };
        self.seen |= kind.starts_with("thread.") || kind.starts_with("turn.") || kind.starts_with("item.");
        match kind {
            "thread.started" => self.usage.session_id = name(event, "thread_id"),
            "turn.started" => {
                self.usage.turns = sum(self.usage.turns, Some(1));
                self.turn = None;
            }
            "turn.completed" => {
                self.turn = Some(Ok(()));
                if let Some(used) = event.get("usage") {
                    self.add(used);
                }
            }
            "turn.failed" => self.turn = Some(Err(said(event.get("error")))),
            // After it the stream ends without the end of a turn; a turn that completes all the same outranks it.
            "error" => self.turn = Some(Err(said(Some(event)))),
            "item.completed" => self.item(event.get("item").unwrap_or(&Value::Null)),
            _ => {}
        }
    }

    fn add(&mut self, used: &Value) {
        let usage = &mut self.usage;
        // Those from the cache are among those that were read.
        let (read, cached) = (count(used, "input_tokens"), count(used, "cached_input_tokens"));
        let fresh = read.map(|read| read.saturating_sub(cached.unwrap_or(0)));
        usage.input_tokens = sum(usage.input_tokens, fresh);
        usage.cache_read_tokens = sum(usage.cache_read_tokens, cached);
        usage.output_tokens = sum(usage.output_tokens, count(used, "output_tokens"));
    }

    fn item(&mut self, item: &Value) {
        let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
        let usage = &mut self.usage;
        let add = |to: &mut Option<u64>, is: bool| *to = sum(*to, Some(u64::from(is)));
        add(&mut usage.tool_uses, TOOLS.contains(&kind));
        add(&mut usage.commands, kind == "command_execution");
        add(&mut usage.file_changes, kind == "file_change");
        if kind == "agent_message" {
            let text = item.get("text").and_then(Value::as_str);
            self.message = text.filter(|text| text.len() <= MESSAGE_MAX).map(str::to_owned);
        }
    }

    /// What was used. None, if no event was seen.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.seen.then(|| self.usage.clone())
    }

    /// The answer: the last message, from its file or else from the events. A turn that failed, or has no end, has
    /// none.
    pub(super) fn answer(&self, last: Option<&[u8]>) -> Result<String, String> {
        match &self.turn {
            Some(Err(said)) => return Err(format!("`codex` ended with an error: {said}")),
            None if self.seen => return Err("`codex` ended in the middle of a turn".into()),
            None => return Err("`codex` wrote no events; look at its standard error".into()),
            Some(Ok(())) => {}
        }
        let file = last.and_then(|last| std::str::from_utf8(last).ok()).map(str::to_owned);
        let answer = file.filter(|text| !text.trim().is_empty()).or_else(|| self.message.clone());
        answer.filter(|text| !text.trim().is_empty()).ok_or_else(|| "`codex` ended without an answer".into())
    }
}
