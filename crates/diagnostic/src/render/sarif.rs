//! SARIF 2.1.0: one log for all documents of a check.

use crate::{Diagnostic, Severity, Source, url_path, visible_json};
use serde_json::{Value, json};

/// What is said about a rule in the log.
#[derive(Debug, Clone, Copy)]
pub struct Rule<'a> {
    /// Its id.
    pub id: &'a str,
    /// One line.
    pub summary: &'a str,
    /// In full, in Markdown.
    pub explanation: &'a str,
    /// How much a finding of it weighs.
    pub severity: Severity,
}

/// The whole log, as the text of a file.
pub fn text(log: &Value) -> String {
    format!("{}\n", visible_json(&format!("{log:#}")))
}

/// How the check itself went, whatever it found.
#[derive(Debug)]
pub struct Invocation {
    /// The exit code of the program.
    pub exit_code: u8,
    /// What could not be done, each made by [`notification`]. Without any, the check was carried out.
    pub notifications: Vec<Value>,
}

/// Something that could not be done, and the file that it is about. A log without it would look like that of a check that
/// had nothing to say.
pub fn notification(message: &str, file: Option<&str>) -> Value {
    let mut notification = json!({ "level": "error", "message": { "text": message } });
    if let Some(file) = file {
        let place = json!({ "physicalLocation": { "artifactLocation": { "uri": url_path(file) } } });
        notification["locations"] = json!([place]);
    }
    notification
}

/// The whole log.
pub fn log(rules: &[Rule<'_>], results: Vec<Value>, version: &str, invocation: Invocation) -> Value {
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.summary },
                "fullDescription": { "text": rule.summary },
                "help": { "text": rule.explanation, "markdown": rule.explanation },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "countersign", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": invocation.notifications.is_empty(),
                "exitCode": invocation.exit_code,
                "toolExecutionNotifications": invocation.notifications,
            }],
            "results": results,
        }],
    })
}

/// One finding.
pub fn result(diagnostic: &Diagnostic, source: Source<'_>) -> Value {
    let (start, end) = source.places(&diagnostic.span.clone().unwrap_or(0..0));
    let text = if diagnostic.help.is_empty() {
        diagnostic.message.clone()
    } else {
        format!("{}\nhelp: {}", diagnostic.message, diagnostic.help)
    };
    json!({
        "ruleId": diagnostic.rule,
        "level": level(diagnostic.severity),
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": url_path(source.name) },
                "region": {
                    "startLine": start.line,
                    "startColumn": start.column,
                    "endLine": end.line,
                    "endColumn": end.column,
                },
            },
            "logicalLocations": [{ "fullyQualifiedName": diagnostic.pointer, "kind": "member" }],
        }],
        "properties": { "code": diagnostic.code },
    })
}

fn level(severity: Severity) -> &'static str {
    severity.as_str()
}
