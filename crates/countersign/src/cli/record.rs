//! `countersign record`

use super::output::Format;
use super::{Exit, Global, failed, output};
use crate::gather::Input;
use crate::place::{self, Place};
use crate::project::Project;
use crate::terminal::Terminal;
use crate::{files, world};
use anyhow::Context;
use countersign_contract::{Checked, Form, Request, Untrusted, check, scan, utf8};
use countersign_diagnostic::render::text;
use countersign_diagnostic::{Severity, Source, visible};
use countersign_domain::deciding::{Command, Refusal};
use countersign_domain::project::Keep;
use countersign_engine::{Call, Engine, Stored};
use countersign_ledger::Hash;
use std::path::{Path, PathBuf};

/// Keep checked payloads in the ledger, as evidence
///
/// Each file is checked first; one that is refused is not kept, and the refusal is recorded. A call with --key is done once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign record result.json
  countersign record worklogs/*.jsonl --as agent:coder-1
  countersign record result.json --key ci-4711 --format json

Exit codes: 0 all kept, 1 one refused, 2 wrong usage, 3 one could not be read or written.")]
pub struct Args {
    /// The files; - is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Take them as this contract instead of telling it from their keys
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,

    /// Makes a repetition of this call the same call: it is done once, and answered alike
    #[arg(long, value_name = "KEY")]
    key: Option<String>,

    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub fn run(args: &Args, global: &Global, project: &Project) -> anyhow::Result<Exit> {
    let engine = Place::of(project, global.ledger.as_deref())?.engine()?;
    let mut exit = Exit::Allowed;
    for (number, path) in args.files.iter().enumerate() {
        // A key stands for one file; the second one of a call has a key of its own.
        let key = args.key.as_ref().map(|key| if number == 0 { key.clone() } else { format!("{key}/{number}") });
        let call = place::call(global.actor.as_deref(), key.as_deref())?;
        exit = exit.max(one(args, project, &engine, &call, path)?);
    }
    Ok(exit)
}

fn one(args: &Args, project: &Project, engine: &Engine, call: &Call, path: &Path) -> anyhow::Result<Exit> {
    let input = Input::named(path, None);
    let bytes = match input.read(project.settings.size_max) {
        Ok(bytes) => bytes,
        Err(unread) => {
            let why = files::Unread::why(&unread, project.settings.size_max);
            output::say(&format!("error: `{}` cannot be read: {why}", input.name));
            return Ok(Exit::Failed);
        }
    };
    let text = match utf8(&bytes) {
        Ok(text) => text,
        Err(fault) => {
            output::say(&format!("error: `{}` cannot be read: {}; {}", input.name, fault.message, fault.help));
            return Ok(Exit::Failed);
        }
    };
    let checked = checked(args, project, &input, text);
    if !checked.decision.allow {
        return refused(engine, call, &checked, Source { name: &input.name, text });
    }
    let form = Request::alone(Source { name: &input.name, text }, &world::outside(None)).form();
    let details = &checked.decision.details;
    let keep = Keep {
        file: scan::redact(&input.name).unwrap_or_else(|| input.name.clone()),
        contract: details.contract.clone().context("the contract could not be told")?,
        version: details.version.clone(),
        form: form_name(form),
        warnings: details.diagnostics.len(),
        body: Untrusted::new(text.to_owned()),
    };
    let request = Hash::of(format!("{}\n{}\n{text}", keep.contract, keep.file).as_bytes());
    match engine.submit(call, request, keep) {
        Ok(answer) => {
            let event = answer.events.first().context("the event that was recorded cannot be read back")?;
            output::print(&shown(args, &input.name, event, answer.repeated));
            Ok(Exit::Allowed)
        }
        Err(failure) => failed(failure),
    }
}

fn checked(args: &Args, project: &Project, input: &Input, text: &str) -> Checked {
    let outside = world::outside(None);
    let request =
        Request { contract: args.contract.as_deref(), ..Request::alone(Source { name: &input.name, text }, &outside) };
    let checker = project.checker();
    let first = check(&checker, &request);
    let path = input.path.as_deref().unwrap_or(Path::new(""));
    match world::look_for_files(&first, &outside, path, project) {
        Some(outside) => check(&checker, &Request { outside: &outside, ..request }),
        None => first,
    }
}

/// Shows what is wrong with a payload, and records that it was refused.
fn refused(engine: &Engine, call: &Call, checked: &Checked, source: Source<'_>) -> anyhow::Result<Exit> {
    let terminal = Terminal::stderr();
    let decision = &checked.decision;
    let look = output::look(terminal.look(), source.text, checked);
    let masked = output::masked(source.text, decision);
    let shown = Source { text: &masked, ..source };
    for diagnostic in decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
        output::say_rendered(&text::diagnostic(diagnostic, shown, look));
    }
    output::say_rendered(&terminal.bold(&text::verdict(decision)));
    let Some(code) = decision.code else { return Ok(Exit::Refused) };
    let reason = format!("`{}`: {}", source.name, decision.reason);
    let refusal = Refusal::new(code, reason, "`countersign check` shows everything that is wrong");
    match engine.refuse(call, Keep::NAME, &refusal) {
        Ok(()) => Ok(Exit::Refused),
        Err(failure) => failed(failure),
    }
}

fn shown(args: &Args, name: &str, event: &Stored, repeated: bool) -> String {
    match args.format {
        Format::Json => format!("{}\n", event.body),
        Format::Text => {
            let word = if repeated { "kept already" } else { "kept" };
            let record = event.facts()["record"].as_str().unwrap_or_default();
            format!("{word}: {} as event {}, record/{record}\n", visible(name), event.seq)
        }
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Json => "json",
        Form::JsonLines => "jsonl",
        Form::Yaml => "yaml",
        Form::Markdown => "markdown",
    }
}
