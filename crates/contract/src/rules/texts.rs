//! Looks through the texts of a document for what has no place in any: secrets, and words that act as control.

use super::{CONTROL_IN_TEXT, CONTROL_IN_UNTRUSTED_TEXT, SECRET_IN_TEXT};
use crate::comments::{comments, passages};
use crate::document::{Cursor, Document, Kind};
use crate::hide::HIDDEN;
use crate::report::Report;
use crate::scan::{self, Suspicions};
use countersign_diagnostic::Repair;
use std::ops::Range;

/// Most documents hold nothing suspicious, and one pass over their bytes shows it.
pub(crate) fn check_texts(document: &Document<'_>, report: &mut Report) {
    let suspicions = if document.shows_its_letters() {
        scan::suspicions(document.text().as_bytes())
    } else {
        Suspicions { secret: true, control: true }
    };
    if suspicions.secret {
        document.texts().for_each(|at| check_secrets(at, report));
        check_secret_members(document.root(), report);
    }
    if suspicions.control {
        document.texts().for_each(|at| check_control(at, report));
    }
    check_comments(document, report);
    if let Some(body) = document.body() {
        check_body(document, body, report);
    }
}

/// A comment is no text of the contract, but is stored and shown with it. What it says about control is left alone:
/// people comment members out.
fn check_comments(document: &Document<'_>, report: &mut Report) {
    // A key goes over many lines. Of anything else, what stands on another line is another matter.
    let mut look = |within: Range<usize>, is_meant: fn(&str) -> bool| {
        let secrets = scan::secrets(&document.text()[within.clone()]).into_iter();
        for secret in secrets.filter(|it| is_meant(it.kind)) {
            let message = format!("a comment holds a secret ({})", secret.kind);
            let help = "remove it and change it; `countersign fix` redacts it";
            let span = within.start + secret.range.start..within.start + secret.range.end;
            report.find(&SECRET_IN_TEXT, document.root(), message, help).span = Some(span);
        }
    };
    passages(document).into_iter().for_each(|within| look(within, |kind| kind == scan::PRIVATE_KEY));
    comments(document).into_iter().for_each(|within| look(within, |kind| kind != scan::PRIVATE_KEY));
}

/// The body of a Markdown document is stored and shown like its fields.
fn check_body(document: &Document<'_>, body: Range<usize>, report: &mut Report) {
    let text = &document.text()[body.clone()];
    let within = |range: &Range<usize>| Some(body.start + range.start..body.start + range.end);
    for secret in scan::secrets(text) {
        let message = format!("the text below the front matter holds a secret ({})", secret.kind);
        let help = "remove it and change it; `countersign fix` redacts it";
        report.find(&SECRET_IN_TEXT, document.root(), message, help).span = within(&secret.range);
    }
    if let Some(control) = scan::control(text) {
        let part = crate::show(text.get(control.range.clone()).unwrap_or_default());
        let message = format!("the text below the front matter {}: `{part}`", control.why);
        let help = "say what is wanted as plain data, or remove it";
        report.find(&CONTROL_IN_TEXT, document.root(), message, help).span = within(&control.range);
    }
}

fn check_secrets(at: Cursor<'_>, report: &mut Report) {
    if report.is_examined(at) {
        return;
    }
    let Some(text) = at.text() else { return };
    let Some(redacted) = scan::redact(text) else { return };
    let mut kinds: Vec<&str> = scan::secrets(text).iter().map(|secret| secret.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let message = format!("this text holds a secret ({})", kinds.join(", "));
    let help = format!("remove it and change it; redacted it reads `{}`", crate::show(&redacted));
    let found = report.find(&SECRET_IN_TEXT, at, message, help);
    found.span = Some(at.span());
    let pointer = found.pointer.clone();
    // The pointer of a key leads to its value, which must not be replaced for it.
    let is_value = at.document().find(&pointer).is_some_and(|value| value.index() == at.index());
    if is_value {
        found.repair(Repair::replace(pointer, redacted, "redact the secret"));
    }
}

/// A member called `password` with a text for a value is a secret, though neither text is one by itself.
fn check_secret_members(at: Cursor<'_>, report: &mut Report) {
    for (key, value) in at.entries() {
        if let (Some(name), Some(text)) = (key.text(), value.text())
            && scan::secret_member(name, text)
            && scan::redact(text).is_none()
        {
            let message = format!("field `{}` holds a secret", crate::show(name));
            report.hide(text);
            let found = report.find(&SECRET_IN_TEXT, value, message, "remove it and change it");
            found.span = Some(value.span());
            let pointer = found.pointer.clone();
            found.repair(Repair::replace(pointer, HIDDEN, "redact the secret"));
        }
        if !value.kind().is_scalar() {
            check_secret_members(value, report);
        }
    }
    if at.kind() == Kind::List {
        for item in at.items().filter(|item| !item.kind().is_scalar()) {
            check_secret_members(item, report);
        }
    }
}

fn check_control(at: Cursor<'_>, report: &mut Report) {
    if report.is_embedded(at) {
        return;
    }
    let Some(text) = at.text() else { return };
    let Some(control) = scan::control(text) else { return };
    let rule = if report.is_untrusted(at) { &CONTROL_IN_UNTRUSTED_TEXT } else { &CONTROL_IN_TEXT };
    let part = crate::show(text.get(control.range).unwrap_or(text));
    let message = format!("this text {}: `{part}`", control.why);
    report.find(rule, at, message, "say what is wanted as plain data, or remove it");
}
