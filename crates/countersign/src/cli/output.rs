//! Standard output and standard error, written so that a closed pipe is not a crash.

use countersign_contract::{Checked, rules, scan};
use countersign_diagnostic::render::text::Look;
use countersign_diagnostic::{Decision, visible, visible_lines};
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// How an answer that is one thing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

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

/// Whether a document may hold a secret that is not among the findings: what it says could not be read, so that its values
/// have not been looked at one by one, or there are more findings than are listed.
pub fn may_hide_secret(text: &str, checked: &Checked) -> bool {
    let cut = checked.decision.details.diagnostics.iter().any(|it| it.rule == rules::FINDINGS_CUT.id);
    (!checked.told || cut) && scan::may_hold_secret(text.as_bytes())
}

/// The look of findings in a document: without its lines where they may hold a secret that is not covered.
pub fn look<'l>(look: Look<'l>, text: &str, checked: &Checked) -> Look<'l> {
    Look { lines: look.lines && !may_hide_secret(text, checked), ..look }
}

/// Whether something that was to be written did not land.
static LOST: AtomicBool = AtomicBool::new(false);

/// Writes to standard output. A reader that has gone away is not an error of ours; a full disk is, and it must not pass
/// for success.
pub fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        CLOSED.store(true, Ordering::Relaxed);
    }
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        say(&format!("error: standard output cannot be written: {error}"));
    }
}

/// Whether somebody still reads standard output.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether it is worth going on to print.
pub fn listened_to() -> bool {
    !CLOSED.load(Ordering::Relaxed) && landed()
}

/// Whether an error is only that nobody reads any more.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.chain().filter_map(|it| it.downcast_ref::<std::io::Error>());
    let closed = |error: &std::io::Error| error.kind() == ErrorKind::BrokenPipe;
    io.into_iter().any(closed) || error.to_string().contains("Broken pipe")
}

/// Whether everything that was printed has landed.
pub fn landed() -> bool {
    !LOST.load(Ordering::Relaxed)
}

/// Writes a line to standard error. Names and documents may be quoted in it: what would act on a terminal, or begin a line
/// of its own, is made visible.
pub fn say(line: &str) {
    say_rendered(&visible(line));
}

/// The same for several lines of a document.
pub fn say_lines(text: &str) {
    say_rendered(&visible_lines(text));
}

/// Writes what was rendered for a terminal, and so has codes of its own in it.
pub fn say_rendered(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{text}");
}
