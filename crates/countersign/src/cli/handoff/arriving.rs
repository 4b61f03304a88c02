//! The document of a handoff that arrived, with the note that it did.

use super::onward::Document;
use super::unanswered;
use crate::cli::asking::Here;
use crate::cli::output;
use crate::client::Client;
use crate::files;
use anyhow::Context;
use countersign_contract::{Form, fix, parse};
use countersign_domain::handoff::noting::note;
use countersign_domain::handoff::payload::EventType;
use countersign_runner::handoff::kept;
use serde_json::{Value, json};
use std::path::Path;

/// Notes in a file what became of it. The ledger has it; a file that cannot be written only lacks the note.
pub fn note_in_file(here: &Here<'_>, document: &Document, skill: &str, what: EventType) {
    let (Some(path), false) = (&document.input.path, document.notes(what.as_str())) else { return };
    match noted(here, &document.value, (&document.text, document.form), skill, what) {
        Some(text) => {
            if let Err(error) = files::write(path, &text) {
                output::say(&format!("warning: going on without the note in the file that it was {what}: {error:#}"));
            }
        }
        None => {
            output::say(&format!("warning: the budget has no room for the note that it was {what}; the ledger has it"))
        }
    }
}

/// The files with what was taken out of a document, as they are here. Those that are gone are told of.
pub fn kept(here: &Here<'_>, value: &Value, path: &Path) -> Vec<Value> {
    let found = kept::sums(value, path, here.project.root.as_deref());
    for name in kept::names(value).filter(|name| found.iter().all(|it| it["path"] != *name)) {
        let name = countersign_diagnostic::visible(name);
        output::say(&format!("warning: {name} is gone, and with it what was taken out of the handoff"));
    }
    found
}

/// The document that somebody is about to receive by its trace alone: the one that `handoff.receive` takes. None, if there is
/// none; it says so then.
pub fn waiting(here: &Here<'_>, client: &Client<'_>, trace: &str, skill: &str) -> Option<Value> {
    let chain = client.look("handoff.chain", &json!({ "trace_id": trace })).ok()?;
    let steps = chain["steps"].as_array()?;
    let mut to_skill = steps.iter().rev().filter(|step| step["target"] == skill);
    let waits = to_skill.clone().find(|step| step["received_at"].is_null());
    let step = waits.or_else(|| to_skill.next())?;
    let shown = client.look("handoff.show", &json!({ "trace_id": trace, "step": step["step"] })).ok()?;
    let text = shown["document"].as_str()?;
    Some(parse(text, Form::of_text(text), here.project.settings.size_max).ok()?.root().to_value())
}

/// The document as it was sent to somebody, with the note that it arrived.
pub fn from_ledger(here: &Here<'_>, client: &Client<'_>, trace: &str, skill: &str) -> anyhow::Result<String> {
    let chain = client.look("handoff.chain", &json!({ "trace_id": trace })).map_err(unanswered)?;
    let steps = chain["steps"].as_array().into_iter().flatten();
    let mut own = steps.rev().filter(|step| step["target"] == skill && step["status"] == "received");
    let step = own.next().with_context(|| format!("what `{skill}` received of trace {trace} cannot be found"))?;
    let shown = client.look("handoff.show", &json!({ "trace_id": trace, "step": step["step"] })).map_err(unanswered)?;
    let text = shown["document"].as_str().context("its text was erased after it was sent")?;
    let form = Form::of_text(text);
    let value = parse(text, form, here.project.settings.size_max).map(|it| it.root().to_value());
    let noted = value.ok().and_then(|value| noted(here, &value, (text, form), skill, EventType::Received));
    Ok(noted.unwrap_or_else(|| text.to_owned()))
}

fn noted(here: &Here<'_>, value: &Value, (text, form): (&str, Form), skill: &str, what: EventType) -> Option<String> {
    let mut value = value.clone();
    let now = jiff::Timestamp::now();
    note(&mut value, what, skill, now, &here.project.settings).then(|| fix::write(&value, text, form))
}
