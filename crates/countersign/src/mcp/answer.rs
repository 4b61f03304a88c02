//! How a tool answers: one object that says everything, and the same as text.

use crate::cli::told;
use countersign_contract::diagnostic::render::json;
use countersign_contract::show;
use countersign_diagnostic::{Diagnostic, Severity, Source, visible_lines};
use countersign_engine::{Failure, OK};
use countersign_ledger::Error;
use countersign_tokens::Encoding;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// How many tokens an answer may have. Clients take 25,000 at most, and some count the object and the text.
pub const TOKENS_MAX: usize = 12_000;
/// The code of what could not be done at all. Nobody refused it.
const UNAVAILABLE: &str = "UNAVAILABLE";

/// What a tool says.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The object.
    object: Value,
    /// Whether the call was not carried out.
    refused: bool,
}

impl Said {
    /// The call was carried out, and this is the answer.
    pub fn done(answer: Value, findings: Vec<Value>) -> Self {
        let object = json!({ "allow": true, "code": OK, "findings": findings, "answer": answer });
        Self { object, refused: false }
    }

    /// The same with another field.
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.object[field] = value.into();
        self
    }

    /// The call was not carried out.
    pub fn refused(code: &str, reason: &str, help: &str, findings: &[Diagnostic]) -> Self {
        let mut findings: Vec<&Diagnostic> = findings.iter().collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let mut rendered = format!("refused [{code}]: {reason}\n");
        for finding in findings.iter().filter(|it| it.severity == Severity::Error) {
            rendered.push_str(&format!("{}\n", told(finding)));
        }
        rendered.push_str(&format!("  help: {help}\n"));
        let findings: Vec<Value> = findings.into_iter().map(without_place).collect();
        let object = json!({
            "allow": false, "code": code, "reason": reason, "help": help, "findings": findings, "rendered": rendered,
        });
        Self { object, refused: true }
    }

    /// The call could not be carried out, and nobody is to blame for the way it was asked.
    pub fn unavailable(why: &str) -> Self {
        let help = "try again; if it stays so, have somebody run `countersign doctor`";
        Self::refused(UNAVAILABLE, why, help, &[])
    }

    /// It is not known who calls, so it could not be done at all.
    pub fn unnamed(why: &str, help: &str) -> Self {
        Self::refused(UNAVAILABLE, why, help, &[])
    }

    /// The call was not carried out by the engine.
    pub fn failed(failure: Failure) -> Self {
        match failure {
            Failure::Refused(it) => Self::refused(it.code.as_str(), &it.reason, &it.help, &it.findings),
            Failure::Malformed(it) => {
                let help = "mend the arguments; the findings say where";
                Self::refused(it.code_str(), &it.reason, help, &it.details.diagnostics)
            }
            Failure::Unknown(why) => Self::refused("MISSING_REQUIRED_INPUT", &why, "name what there is", &[]),
            Failure::Ledger(error @ Error::Refused(_)) => {
                Self::refused("CONCURRENCY_CONFLICT", &error.to_string(), "look how things stand, and try again", &[])
            }
            Failure::Ledger(error) => Self::unavailable(&error.to_string()),
        }
    }

    /// The object, with what acts on a terminal made visible, and no longer than clients take. Of findings the last are left
    /// out; an answer is whole or refused, since half of a document would be taken for all of it.
    pub fn object(self) -> (Value, bool) {
        let Self { mut object, refused } = self;
        // What a repaired document has in it must stay as it is, or it would be written back otherwise.
        let document = object.pointer("/answer/document").cloned();
        make_visible(&mut object);
        if let (Some(document), Some(place)) = (document, object.pointer_mut("/answer/document")) {
            *place = document;
        }
        let excess = tokens(&object);
        if excess <= TOKENS_MAX {
            return (object, refused);
        }
        shorten_findings(&mut object);
        if tokens(&object) <= TOKENS_MAX {
            return (object, refused);
        }
        let reason = format!("the answer has {excess} tokens, and clients take no more than {TOKENS_MAX}");
        let help = "ask for less, with `max_tokens` where there is one, or use `countersign` on the command line";
        let Self { object, .. } = Self::refused("TOKEN_LIMIT_EXCEEDED", &reason, help, &[]);
        (object, true)
    }

    /// The result as the protocol has it.
    pub fn result(self) -> CallToolResult {
        let (object, refused) = self.object();
        let text = ContentBlock::text(object.to_string());
        let mut result = if refused { CallToolResult::error(vec![text]) } else { CallToolResult::success(vec![text]) };
        result.structured_content = Some(object);
        result
    }
}

/// A finding whose place lies in a text that the caller does not have.
pub fn without_place(finding: &Diagnostic) -> Value {
    let mut value = json::diagnostic(finding, Source { name: "", text: "" });
    if let Value::Object(members) = &mut value {
        for field in ["line", "column", "end_line", "end_column"] {
            members.shift_remove(field);
        }
        members.retain(|_, value| !value.is_null());
    }
    value
}

/// A finding with its place.
pub fn with_place(finding: &Diagnostic, source: Source<'_>) -> Value {
    let mut value = json::diagnostic(finding, source);
    if let Value::Object(members) = &mut value {
        members.retain(|_, value| !value.is_null());
    }
    value
}

fn tokens(object: &Value) -> usize {
    Encoding::O200kBase.count(&object.to_string())
}

/// Leaves out the last findings, and what was rendered of them.
fn shorten_findings(object: &mut Value) {
    let all = object["findings"].as_array().map_or(0, Vec::len);
    let rendered = object["rendered"].as_str().unwrap_or_default().to_owned();
    let (mut kept, mut letters) = (all, rendered.chars().count());
    while tokens(object) > TOKENS_MAX && (kept > 0 || letters > 0) {
        (kept, letters) = (kept / 2, letters / 2);
        if let Some(findings) = object["findings"].as_array_mut() {
            findings.truncate(kept);
        }
        if object.get("rendered").is_some() {
            let shown: String = rendered.chars().take(letters).collect();
            object["rendered"] = json!(format!("{shown}\n… (cut)"));
        }
    }
    let note = format!(
        "Of {all} findings {kept} are shown, and the text is cut. Mend these and ask again, or use `countersign check` on \
         the command line."
    );
    object["note"] = json!(note);
}

fn make_visible(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let std::borrow::Cow::Owned(shown) = visible_lines(text) {
                *text = shown;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        Value::Object(members) => {
            if members.keys().any(|key| key.chars().any(countersign_diagnostic::acts)) {
                *members = std::mem::take(members).into_iter().map(|(key, value)| (show(&key), value)).collect();
            }
            members.values_mut().for_each(make_visible);
        }
        _ => {}
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_where_that_is_harmless_and_refused_where_not() {
        let finding = json!({ "message": "one two three four five six seven eight nine ten" });
        let (object, refused) =
            Said::done(json!({}), vec![finding; 5000]).with("rendered", "x ".repeat(50_000)).object();
        assert!(!refused && tokens(&object) <= TOKENS_MAX);
        let left = object["findings"].as_array().unwrap().len();
        assert!(
            left > 0 && object["note"].as_str().unwrap().starts_with(&format!("Of 5000 findings {left} are shown"))
        );
        let (object, refused) = Said::done(json!({ "document": "one two ".repeat(20_000) }), Vec::new()).object();
        assert_eq!(
            (refused, object["allow"].as_bool(), object["code"].as_str()),
            (true, Some(false), Some("TOKEN_LIMIT_EXCEEDED"))
        );
        assert!(object.get("answer").is_none());
    }

    #[test]
    fn what_acts_is_made_visible_everywhere_but_in_a_document() {
        let answer = json!({ "document": "a\u{1b}\r\n", "title\u{1b}": "\u{1b}[2J\u{202e}", "lines": "a\n\tb" });
        let (object, _) = Said::done(answer, Vec::new()).object();
        let shown = json!({ "document": "a\u{1b}\r\n", "title\\u{1b}": "\\u{1b}[2J\\u{202e}", "lines": "a\n\tb" });
        assert_eq!(object["answer"], shown);
    }
}
