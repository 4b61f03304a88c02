//! What `claude -p --output-format stream-json --verbose` writes: messages as JSON Lines.
//!
//! The last is of `"type": "result"`, with `subtype`, `is_error`, `result`, `structured_output`, `session_id`, `num_turns`,
//! `total_cost_usd`, `usage` and `modelUsage`. Those of `"type": "assistant"` carry what the model said, each use of a tool
//! as a block `tool_use{name}`, and what that message cost in tokens. A wrapper may have written lines around them, or all
//! messages as one list.

use super::usage::{Usage, count, name, sum};
use serde_json::Value;
use std::collections::HashMap;

/// The tool by which an answer is made to the schema. It is no work.
const ANSWERING: &str = "StructuredOutput";
/// The tools that run commands.
const COMMANDS: &[&str] = &["Bash", "PowerShell"];
/// The tools that change files.
const EDITS: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "Write"];
/// Of so many messages it is known what each cost.
const MESSAGES_MAX: usize = 100_000;
/// Longer answers are none.
const ANSWER_MAX: usize = 1 << 20;

/// How much of a complaint is repeated.
const SAID_MAX: usize = 500;

/// What the messages said so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    result: Option<Value>,
    /// Uses of tools, of commands, of edits; known if the model was heard to say anything.
    tools: Option<[u64; 3]>,
    /// What each message used, by its id: pieces of one message repeat it.
    messages: HashMap<String, [Option<u64>; 4]>,
}

impl Events {
    pub(super) fn fold(&mut self, event: Value) {
        if let Value::Array(messages) = event {
            return messages.into_iter().for_each(|message| self.fold(message));
        }
        match event.get("type").and_then(Value::as_str) {
            Some("assistant") => self.said(event.get("message").unwrap_or(&Value::Null)),
            Some("result") => self.result = Some(event),
            _ => {}
        }
    }

    fn said(&mut self, message: &Value) {
        let [uses, commands, edits] = self.tools.get_or_insert_default();
        let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
        let used = blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
        for tool in used.filter_map(|block| block.get("name").and_then(Value::as_str)).filter(|it| *it != ANSWERING) {
            *uses += 1;
            *commands += u64::from(COMMANDS.contains(&tool));
            *edits += u64::from(EDITS.contains(&tool));
        }
        if let (Some(id), Some(used)) = (name(message, "id"), message.get("usage"))
            && self.messages.len() < MESSAGES_MAX
        {
            self.messages.insert(id, tokens(used));
        }
    }

    /// What was used: by the result, or, where the agent did not come to one, by its messages.
    pub(super) fn usage(&self) -> Option<Usage> {
        if self.result.is_none() && self.tools.is_none() {
            return None;
        }
        let none = Value::Null;
        let result = self.result.as_ref().unwrap_or(&none);
        let [input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens] = match &self.result {
            Some(result) => tokens(result.get("usage").unwrap_or(&none)),
            None => self.messages.values().fold([None; 4], |all, one| std::array::from_fn(|at| sum(all[at], one[at]))),
        };
        let models = result.get("modelUsage").and_then(Value::as_object);
        let spoken = |model: &Value| count(model, "outputTokens").unwrap_or(0);
        let most = models.and_then(|models| models.iter().max_by_key(|(_, model)| spoken(model)));
        let cost = result.get("total_cost_usd").and_then(Value::as_f64);
        Some(Usage {
            input_tokens,
            output_tokens,
            cache_creation_tokens,
            cache_read_tokens,
            cost_usd: cost.filter(|cost| cost.is_finite() && *cost >= 0.0),
            tool_uses: self.tools.map(|[uses, ..]| uses),
            commands: self.tools.map(|[_, commands, _]| commands),
            file_changes: self.tools.map(|[.., edits]| edits),
            turns: count(result, "num_turns"),
            session_id: name(result, "session_id"),
            model: most.map(|(model, _)| model.chars().take(SAID_MAX).collect()),
        })
    }

    /// The answer: what was made to the schema, or else the last words. An error is never an answer.
    pub(super) fn answer(&self) -> Result<String, String> {
        let Some(result) = &self.result else {
            return Err("`claude` did not write its result message; look at its standard error".into());
        };
        let subtype = result.get("subtype").and_then(Value::as_str).unwrap_or("success");
        let words = result.get("result").and_then(Value::as_str).unwrap_or_default();
        if result.get("is_error").and_then(Value::as_bool) == Some(true) || subtype != "success" {
            let errors = result.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let said: Vec<&str> = Some(words).filter(|words| !words.is_empty()).into_iter().chain(errors).collect();
            let said: String = said.join("; ").chars().take(SAID_MAX).collect();
            let said = if said.is_empty() { "it says no more".to_owned() } else { said };
            return Err(format!("`claude` ended with an error ({subtype}): {said}"));
        }
        let answer = match result.get("structured_output") {
            Some(Value::Null) | None if words.trim().is_empty() => {
                return Err("`claude` ended without an answer".into());
            }
            Some(Value::Null) | None => words.to_owned(),
            Some(made) => made.to_string(),
        };
        if answer.len() > ANSWER_MAX {
            return Err(format!("`claude` gave an answer of {} bytes; {ANSWER_MAX} are the most", answer.len()));
        }
        Ok(answer)
    }
}

/// What was used: tokens read, written, put into a cache, read from it.
fn tokens(used: &Value) -> [Option<u64>; 4] {
    ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .map(|key| count(used, key))
}
