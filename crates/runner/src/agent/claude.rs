//! What `claude -p --output-format json` writes.
//!
//! One object of `"type": "result"` with `subtype`, `is_error`, `result`, `structured_output`, `session_id`,
//! `num_turns`, `total_cost_usd`, `usage` and `modelUsage`. Where the user's settings ask for verbose output it is a
//! list of messages, of which the last is that object. How often tools were used is not in it.

use super::usage::{Usage, count, name};
use serde_json::Value;

/// How much of a complaint is repeated.
const SAID_MAX: usize = 500;

/// The object of the result, if there is one in the output. A wrapper may have written lines around it.
pub(super) fn result(out: &[u8]) -> Option<Value> {
    let lines = out.split(|byte| *byte == b'\n').rev();
    std::iter::once(out).chain(lines).find_map(|text| in_text(serde_json::from_slice(text).ok()?))
}

fn in_text(value: Value) -> Option<Value> {
    let is_result = |value: &Value| value.get("type").and_then(Value::as_str) == Some("result");
    match value {
        Value::Array(messages) => messages.into_iter().rev().find(is_result),
        value => Some(value).filter(is_result),
    }
}

pub(super) fn usage(out: &[u8]) -> Option<Usage> {
    let result = result(out)?;
    let none = Value::Null;
    let tokens = result.get("usage").unwrap_or(&none);
    let models = result.get("modelUsage").and_then(Value::as_object);
    let spoken = |model: &Value| count(model, "outputTokens").unwrap_or(0);
    let most = models.and_then(|models| models.iter().max_by_key(|(_, model)| spoken(model)));
    Some(Usage {
        input_tokens: count(tokens, "input_tokens"),
        output_tokens: count(tokens, "output_tokens"),
        cache_creation_tokens: count(tokens, "cache_creation_input_tokens"),
        cache_read_tokens: count(tokens, "cache_read_input_tokens"),
        cost_usd: result.get("total_cost_usd").and_then(Value::as_f64).filter(|cost| cost.is_finite() && *cost >= 0.0),
        turns: count(&result, "num_turns"),
        session_id: name(&result, "session_id"),
        model: most.map(|(model, _)| model.chars().take(SAID_MAX).collect()),
        ..Usage::default()
    })
}

/// The answer: what was made to the schema, or else the last words. An error is never an answer.
pub(super) fn answer(out: &[u8]) -> Result<String, String> {
    let Some(result) = result(out) else {
        return Err("`claude` did not write its result object; look at its standard error".into());
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
    match result.get("structured_output") {
        Some(Value::Null) | None if words.trim().is_empty() => Err("`claude` ended without an answer".into()),
        Some(Value::Null) | None => Ok(words.to_owned()),
        Some(made) => Ok(made.to_string()),
    }
}
