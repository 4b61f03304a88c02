//! What a document says about where it goes, as far as it can be read.

use super::{checked, verdict};
use crate::cli::asking::{Here, line, wrong};
use crate::cli::output::Format;
use crate::cli::targets::{Among, candidates, rank};
use crate::cli::{Exit, output};
use crate::gather::Input;
use crate::terminal::Terminal;
use countersign_contract::{Form, parse};
use countersign_diagnostic::{Source, render, visible};
use countersign_domain::handoff::payload::{TraceId, UniversalHandoff};
use countersign_runner::handoff::kept;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;

/// A document that was named, read as far as its verb needs.
pub struct Document {
    pub input: Input,
    pub text: String,
    pub form: Form,
    pub value: Value,
}

impl Document {
    /// Reads a document. One that is no handoff at all is shown with what is wrong with it, and gives none.
    pub fn read(here: &Here<'_>, path: &Path, format: Format) -> anyhow::Result<Option<Self>> {
        let input = Input::named(path, None);
        if path.as_os_str().is_empty() {
            return Err(wrong("no file was named"));
        }
        let size_max = here.project.settings.size_max;
        let text = input.text(size_max)?;
        let form = Form::of_name(&input.name).unwrap_or_else(|| Form::of_text(&text));
        let value = parse(&text, form, size_max).map(|it| it.root().to_value());
        let document = value.ok().filter(|value| value["handoff"].is_object());
        match document {
            Some(value) => Ok(Some(Self { input, text, form, value })),
            None => {
                show_refused(here, &input, &text, format);
                Ok(None)
            }
        }
    }

    /// Where it lies; empty for standard input.
    pub fn path(&self) -> &Path {
        self.input.path.as_deref().unwrap_or(Path::new(""))
    }

    /// A text in it.
    pub fn word(&self, pointer: &str) -> Option<&str> {
        self.value.pointer(pointer)?.as_str().filter(|word| !word.trim().is_empty())
    }

    /// Its trace. Without a usable one, what is wrong is shown.
    pub fn trace(&self, here: &Here<'_>, format: Format) -> Option<TraceId> {
        let trace = self.word("/handoff/trace_id").and_then(TraceId::parse);
        if trace.is_none() {
            show_refused(here, &self.input, &self.text, format);
        }
        trace
    }

    /// Whether its trace has an event of this kind.
    pub fn notes(&self, what: &str) -> bool {
        let events = self.value.pointer("/handoff/tracing/events").and_then(Value::as_array);
        events.into_iter().flatten().any(|event| event["event_type"] == what)
    }

    /// What was taken out of it, as the files say that it refers to.
    pub fn taken(&self, here: &Here<'_>) -> Vec<String> {
        kept::taken(&self.value, self.path(), here.project.root.as_deref())
    }

    /// The files with that, and what they hold.
    pub fn kept(&self, here: &Here<'_>) -> Vec<Value> {
        kept::sums(&self.value, self.path(), here.project.root.as_deref())
    }
}

/// Shows what is wrong with a document: on standard error for people, on standard output for programs.
pub fn show_refused(here: &Here<'_>, input: &Input, text: &str, format: Format) {
    let source = Source { name: &input.name, text };
    let checked = checked(here.project, source, input.path.as_deref().unwrap_or(Path::new("")));
    match format {
        Format::Json => {
            let shown = output::masked(text, &checked.decision);
            let decision = render::json::decision(&checked.decision, Source { text: &shown, ..source });
            output::print(&format!("{}\n", decision.trim_end()));
        }
        Format::Text => output::say_rendered(verdict(&checked, source, &Terminal::stderr()).trim_end()),
    }
}

/// Shows who could take a handoff over that names nobody. A person, or whoever asks, chooses.
pub fn discover(here: &Here<'_>, among: &Among, value: &Value, format: Format) -> anyhow::Result<Exit> {
    let mut value = value.clone();
    // Points are given to a handoff that can be read; its target plays no part in them.
    value["handoff"]["target"]["skill"] = json!("nobody-yet");
    let text = value.to_string();
    let checked = checked(here.project, Source { name: "the draft", text: &text }, Path::new(""));
    let record = checked.records.first().and_then(|record| record.downcast_ref::<UniversalHandoff>());
    output::say("error: no target is named; name one with --target, of those that could take over:");
    let candidates = candidates(among, here.project)?;
    match record {
        Some(record) => {
            rank(record, &candidates, among.autonomous, format)?;
        }
        None => {
            let names: Vec<&str> = candidates.iter().map(|it| it.name.as_str()).collect();
            match format {
                Format::Json => output::print(&line(&json!(names))),
                Format::Text if names.is_empty() => output::say("  none were found"),
                Format::Text => names.iter().for_each(|name| output::say(&format!("  {name}"))),
            }
        }
    }
    Ok(Exit::Refused)
}

/// The target that is meant. Where workflows are known and it is none of them, a person at a terminal is asked, with those that
/// could take over and their points; nobody else is guessed for: they are told the same, and it is refused.
pub fn meant(
    here: &Here<'_>,
    among: &Among,
    value: &Value,
    target: &str,
    unlisted: bool,
    format: Format,
) -> anyhow::Result<Option<String>> {
    let candidates = candidates(among, here.project)?;
    if unlisted || candidates.is_empty() || candidates.iter().any(|it| it.name == target) {
        return Ok(Some(target.to_owned()));
    }
    let shown = visible(target);
    output::say(&format!("error: no workflow `{shown}` is known; those that could take over:"));
    let text = value.to_string();
    let checked = checked(here.project, Source { name: "the handoff", text: &text }, Path::new(""));
    match checked.records.first().and_then(|record| record.downcast_ref::<UniversalHandoff>()) {
        Some(record) => {
            rank(record, &candidates, among.autonomous, format)?;
        }
        None => candidates.iter().for_each(|it| output::say(&format!("  {}", visible(&it.name)))),
    }
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        output::say("  help: name one of them with --target, or give --unlisted if it is meant as it stands");
        return Ok(None);
    }
    output::say(&format!("Who takes over? A name of these, or `{shown}` once more; nothing ends it:"));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let answer = answer.trim();
    let known = answer == target || candidates.iter().any(|it| it.name == answer);
    if !known {
        output::say("nobody of that name is known; nothing was done");
    }
    Ok(known.then(|| answer.to_owned()))
}
