//! Standard output and standard error, written so that a closed pipe is not a crash.

use countersign_contract::{rules, scan};
use countersign_diagnostic::Decision;
use std::borrow::Cow;
use std::io::Write;

/// The text of a document as it may be shown: its secrets are covered, and every place stays where it was.
pub fn masked<'t>(text: &'t str, decision: &Decision) -> Cow<'t, str> {
    let findings = &decision.details.diagnostics;
    if findings.is_empty() {
        return Cow::Borrowed(text);
    }
    let secrets = findings.iter().filter(|it| it.rule == rules::SECRET_IN_TEXT.id);
    let spans: Vec<_> = secrets.filter_map(|it| it.span.clone()).collect();
    scan::mask(text, &spans)
}

/// Writes to standard output. A reader that has gone away is not an error of ours.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a line to standard error.
pub fn say(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{text}");
}
