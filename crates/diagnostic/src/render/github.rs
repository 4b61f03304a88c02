//! Workflow commands of GitHub Actions: each finding becomes an annotation on the changed file.

use crate::{Decision, Severity, Source, visible};

/// One line for each finding.
pub fn decision(decision: &Decision, source: Source<'_>) -> String {
    let mut out = String::new();
    for it in &decision.details.diagnostics {
        let command = match it.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let (start, end) = source.places(&it.span.clone().unwrap_or(0..0));
        let column = if start.line == end.line {
            format!(",col={},endColumn={}", start.column, end.column)
        } else {
            // Annotations over several lines may not name columns.
            String::new()
        };
        let help = if it.help.is_empty() { String::new() } else { format!("%0Ahelp: {}", data(&it.help)) };
        out.push_str(&format!(
            "::{command} file={},line={},endLine={}{column},title={}::{}\n",
            property(&decision.details.file),
            start.line,
            end.line,
            property(&format!("{} {}", it.code, it.rule)),
            data(&format!("{}{}", it.message, place(it.pointer.as_str()))) + &help,
        ));
    }
    out
}

/// Where it is, unless it is said of the whole document.
fn place(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" (at {pointer})") }
}

/// A document that could not be read at all: there is no line to show it beside.
pub fn unread(file: &str, why: &str) -> String {
    format!("::error file={}::{}\n", property(file), data(why))
}

/// What a command says. Whatever acts is made visible first: a line break in it would begin a command of its own.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
