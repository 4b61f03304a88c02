//! One decision a line, as JSON.

use crate::{Decision, Diagnostic, Source, visible_json};
use serde_json::{Value, json};

/// The decision as one line of JSON, without the line break.
pub fn decision(decision: &Decision, source: Source<'_>) -> String {
    let details = &decision.details;
    let diagnostics: Vec<Value> = details.diagnostics.iter().map(|it| diagnostic(it, source)).collect();
    let line = json!({
        "allow": decision.allow,
        "code": decision.code_str(),
        "reason": decision.reason,
        "details": {
            "file": details.file,
            "contract": details.contract,
            "version": details.version,
            "diagnostics": diagnostics,
        },
    });
    visible_json(&line.to_string()).into_owned()
}

/// One finding, with its place as people count.
pub fn diagnostic(diagnostic: &Diagnostic, source: Source<'_>) -> Value {
    let span = diagnostic.span.clone().unwrap_or(0..0);
    let (start, end) = source.places(&span);
    json!({
        "rule": diagnostic.rule,
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "pointer": diagnostic.pointer,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "help": diagnostic.help,
        "repair": diagnostic.repair.as_ref().and_then(|it| serde_json::to_value(it).ok()),
    })
}
