//! Workflow commands of GitHub Actions: each finding becomes an annotation on the changed file.

use crate::{Decision, Severity, Source};

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
        let help = if it.help.is_empty() { String::new() } else { format!("\nhelp: {}", it.help) };
        out.push_str(&format!(
            "::{command} file={},line={},endLine={}{column},title={}::{}\n",
            property(&decision.details.file),
            start.line,
            end.line,
            property(&format!("{} {}", it.code, it.rule)),
            data(&format!("{} (at {}){help}", it.message, pointer(it.pointer.as_str()))),
        ));
    }
    out
}

fn pointer(pointer: &str) -> &str {
    if pointer.is_empty() { "/" } else { pointer }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
