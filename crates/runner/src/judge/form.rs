//! How endpoints talk: what is sent to each, and where the answer stands in what comes back.
//!
//! | the path ends with | asked with | the answer stands in |
//! |---|---|---|
//! | `/messages` | a tool that must be called | `content[]`: `tool_use.input`, or `text` |
//! | `/chat/completions` | `response_format` with a schema | `choices[0].message.content` |
//! | `/responses` | `text.format` with a schema | `output[].content[].text` |
//!
//! Not every model and not every server that speaks one of them can be held to a schema. One that says so is asked in
//! plain words; the answer is read as strictly.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The name of the tool, and of the schema, by which the verdict is given.
const TOOL: &str = "give_verdict";
/// The version of Anthropic's form.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// One of the ways in which endpoints talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Messages,
    Completions,
    Responses,
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) model: &'a str,
    pub(super) system: &'a str,
    pub(super) user: &'a str,
    /// How many tokens the answer may have.
    pub(super) room: u64,
    /// Whether the answer is held to a schema.
    pub(super) held: bool,
}

/// What an endpoint said when it answered at all.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) model: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) end: End,
}

/// How an answer ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// With a text that should be a verdict.
    Text(String),
    /// The judge declines to answer.
    Refused(String),
    /// There was not enough room for the answer.
    Cut,
    /// The case is longer than what the model can read.
    TooLong,
    /// With nothing.
    #[default]
    Nothing,
    /// With an error in place of an answer.
    Error(String),
}

impl Form {
    /// The form that a path tells.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.trim_end_matches('/');
        if path.ends_with("/messages") {
            Some(Form::Messages)
        } else if path.ends_with("/chat/completions") {
            Some(Form::Completions)
        } else if path.ends_with("/responses") {
            Some(Form::Responses)
        } else {
            None
        }
    }

    /// How the key is shown.
    pub(super) fn headers(self, key: &str) -> Vec<(&'static str, String)> {
        match self {
            Form::Messages => {
                vec![("x-api-key", key.to_owned()), ("anthropic-version", ANTHROPIC_VERSION.to_owned())]
            }
            Form::Completions | Form::Responses => vec![("authorization", format!("Bearer {key}"))],
        }
    }

    /// The body of a request.
    pub(super) fn request(self, question: &Question<'_>) -> Value {
        let Question { model, system, user, room, held } = *question;
        let said = json!({ "role": "user", "content": user });
        let mut body = match self {
            Form::Messages => json!({ "model": model, "max_tokens": room, "system": system, "messages": [said] }),
            Form::Completions => json!({ "model": model, "messages": [{ "role": "system", "content": system }, said] }),
            Form::Responses => {
                json!({ "model": model, "max_output_tokens": room, "store": false, "instructions": system, "input": user })
            }
        };
        if !held {
            return body;
        }
        match self {
            Form::Messages => {
                let tool = json!({ "name": TOOL, "description": "Gives the verdict.", "input_schema": schema() });
                body["tools"] = json!([tool]);
                body["tool_choice"] = json!({ "type": "tool", "name": TOOL, "disable_parallel_tool_use": true });
            }
            Form::Completions => {
                let named = json!({ "name": TOOL, "strict": true, "schema": schema() });
                body["response_format"] = json!({ "type": "json_schema", "json_schema": named });
                // The older name for it is refused by newer models, and this one by older servers; those are asked plainly.
                body["max_completion_tokens"] = room.into();
            }
            Form::Responses => {
                let format = json!({ "type": "json_schema", "name": TOOL, "strict": true, "schema": schema() });
                body["text"] = json!({ "format": format });
            }
        }
        body
    }

    /// Reads a response that says that all went well. None, if it is not of this form.
    pub(super) fn response(self, body: &[u8]) -> Option<Said> {
        match self {
            Form::Messages => messages(body),
            Form::Completions => completions(body),
            Form::Responses => responses(body),
        }
    }
}

/// What a verdict looks like. The reasoning comes first, so that the verdict follows from it.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "reasoning": { "type": "string", "description": "For each criterion: what shows it, or what is missing." },
            "verdict": { "type": "string", "enum": ["PASS", "WARN", "FAIL"] },
        },
        "required": ["reasoning", "verdict"],
        "additionalProperties": false,
    })
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Block>,
    stop_reason: Option<String>,
    model: Option<String>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    text: Option<String>,
    /// As it was written, so that it is read by the one who reads verdicts.
    input: Option<Box<RawValue>>,
}

fn messages(body: &[u8]) -> Option<Said> {
    let message: Message = match serde_json::from_slice(body) {
        Ok(message) => message,
        Err(_) => return None,
    };
    let count = |name: &str| message.usage[name].as_u64().unwrap_or(0);
    let end = match message.stop_reason.as_deref() {
        Some("refusal") => End::Refused("it declined to answer".to_owned()),
        Some("max_tokens") => End::Cut,
        Some("model_context_window_exceeded") => End::TooLong,
        _ => blocks(&message.content).unwrap_or_else(|| error_in(body)),
    };
    Some(Said {
        end,
        model: message.model,
        // What was read from a cache or written to one is counted apart.
        input_tokens: count("input_tokens")
            .saturating_add(count("cache_creation_input_tokens"))
            .saturating_add(count("cache_read_input_tokens")),
        output_tokens: count("output_tokens"),
    })
}

/// The verdict stands in the tool's input; where the tool was not called, in the text.
fn blocks(blocks: &[Block]) -> Option<End> {
    let calls = blocks.iter().filter(|block| block.kind == "tool_use" && block.name.as_deref() == Some(TOOL));
    let inputs: Vec<&str> = calls.filter_map(|block| block.input.as_ref()).map(|input| input.get()).collect();
    if !inputs.is_empty() {
        // Two calls are two answers; together they are none, and reading them will say so.
        return Some(End::Text(inputs.concat()));
    }
    let texts = blocks.iter().filter(|block| block.kind == "text").filter_map(|block| block.text.as_deref());
    let text: String = texts.collect();
    (!text.trim().is_empty()).then_some(End::Text(text))
}

fn completions(body: &[u8]) -> Option<Said> {
    let value: Value = serde_json::from_slice(body).ok().filter(Value::is_object)?;
    let choice = &value["choices"][0];
    let message = &choice["message"];
    let end = match (choice["finish_reason"].as_str(), message["refusal"].as_str(), message["content"].as_str()) {
        (Some("content_filter"), _, _) => End::Refused("its content filter cut the answer".to_owned()),
        (_, Some(refusal), _) if !refusal.is_empty() => End::Refused(refusal.to_owned()),
        (Some("length"), _, _) => End::Cut,
        (_, _, Some(text)) if !text.trim().is_empty() => End::Text(text.to_owned()),
        _ => error_in(body),
    };
    let usage = &value["usage"];
    Some(Said {
        end,
        model: value["model"].as_str().map(str::to_owned),
        input_tokens: usage["prompt_tokens"].as_u64().unwrap_or(0),
        output_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
    })
}

fn responses(body: &[u8]) -> Option<Said> {
    let value: Value = serde_json::from_slice(body).ok().filter(Value::is_object)?;
    let end = match (value["status"].as_str(), value["incomplete_details"]["reason"].as_str()) {
        (Some("incomplete"), Some("content_filter")) => End::Refused("its content filter cut the answer".to_owned()),
        (Some("incomplete"), _) => End::Cut,
        (Some("failed" | "cancelled"), _) => error_in(body),
        _ => parts(&value).unwrap_or_else(|| error_in(body)),
    };
    let usage = &value["usage"];
    Some(Said {
        end,
        model: value["model"].as_str().map(str::to_owned),
        input_tokens: usage["input_tokens"].as_u64().unwrap_or(0),
        output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
    })
}

fn parts(value: &Value) -> Option<End> {
    let output = value["output"].as_array().into_iter().flatten().filter(|item| item["type"] == "message");
    let parts: Vec<&Value> = output.flat_map(|item| item["content"].as_array().into_iter().flatten()).collect();
    let refusal = parts.iter().find(|part| part["type"] == "refusal");
    if let Some(refusal) = refusal {
        return Some(End::Refused(refusal["refusal"].as_str().unwrap_or("it declined to answer").to_owned()));
    }
    let texts = parts.iter().filter(|part| part["type"] == "output_text").filter_map(|part| part["text"].as_str());
    let text: String = texts.collect();
    (!text.trim().is_empty()).then_some(End::Text(text))
}

/// Some servers answer that all went well and put an error where the answer should be.
fn error_in(body: &[u8]) -> End {
    problem(body).message.map_or(End::Nothing, End::Error)
}

/// What an endpoint says when it cannot answer. All forms put it under `error`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) message: Option<String>,
    /// Whether the account has no money or no quota left, which waiting does not change.
    pub(super) spent: bool,
}

/// Codes under which endpoints say that the account is used up.
const SPENT: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "enforced_spend_limit_reached",
];

/// Reads what an endpoint says is wrong. What is not of the known form is left out: it may be a page of anything.
pub(super) fn problem(body: &[u8]) -> Problem {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = &value["error"];
    let message = error["message"].as_str().or_else(|| error.as_str()).filter(|text| !text.trim().is_empty());
    let codes = [&error["type"], &error["code"], &error["details"]["error_code"]];
    let spent = codes.iter().any(|code| code.as_str().is_some_and(|code| SPENT.contains(&code)));
    Problem { message: message.map(str::to_owned), spent }
}

/// Whether a complaint is about how the answer is held to a schema, and not about the case.
pub(super) fn is_about_holding(message: &str) -> bool {
    const WORDS: &[&str] = &[
        "tool_choice",
        "tools",
        "input_schema",
        "response_format",
        "json_schema",
        "structured output",
        "text.format",
        "max_completion_tokens",
    ];
    let message = message.to_lowercase();
    WORDS.iter().any(|word| message.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_tells_the_form() {
        for (path, form) in [
            ("/v1/messages", Some(Form::Messages)),
            ("/anthropic/v1/messages/", Some(Form::Messages)),
            ("/v1/chat/completions", Some(Form::Completions)),
            ("/openai/v1/responses", Some(Form::Responses)),
            ("/v1/completions", None),
            ("/v1/messages/count_tokens", None),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(Form::of(path), form, "{path}");
        }
    }

    #[test]
    fn two_calls_of_the_tool_are_no_verdict() {
        let call = |verdict: &str| {
            let input = json!({ "verdict": verdict, "reasoning": "r" });
            json!({ "type": "tool_use", "id": "t", "name": TOOL, "input": input })
        };
        let body = json!({ "content": [call("FAIL"), call("PASS")], "stop_reason": "tool_use" });
        let said = messages(body.to_string().as_bytes()).unwrap();
        let End::Text(text) = said.end else { panic!("{:?}", said.end) };
        assert!(crate::judge::read(&text).is_err());
    }

    #[test]
    fn a_verdict_that_stands_twice_in_a_tools_input_is_none() {
        let input = r#"{"verdict":"FAIL","verdict":"PASS","reasoning":"r"}"#;
        let body = format!(
            r#"{{"content":[{{"type":"tool_use","name":"{TOOL}","input":{input}}}],"stop_reason":"tool_use"}}"#
        );
        assert_eq!(messages(body.as_bytes()).map(|it| it.end), Some(End::Text(input.to_owned())));
        assert!(crate::judge::read(input).is_err());
    }
}
