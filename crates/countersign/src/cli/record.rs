//! `countersign record`

use super::output::Format;
use super::{Exit, Global, failed, output};
use crate::client::Client;
use crate::gather::Input;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::{checking, files, world};
use anyhow::Context;
use countersign_contract::{Checked, Request, Text, Untrusted, utf8};
use countersign_diagnostic::render::text;
use countersign_diagnostic::{Severity, Source, visible};
use countersign_domain::deciding::Command;
use countersign_domain::project::{Keep, Payload};
use countersign_engine::{Failure, Reply, Stored};
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
    let mut client = Client::open(project, global)?;
    let mut exit = Exit::Allowed;
    for (number, path) in args.files.iter().enumerate() {
        // A key stands for one file; the second one of a call has a key of its own.
        let key = args.key.as_ref().map(|key| if number == 0 { key.clone() } else { format!("{key}/{number}") });
        client = client.with_key(key.as_deref())?;
        exit = exit.max(one(args, project, &client, path)?);
    }
    Ok(exit)
}

fn one(args: &Args, project: &Project, client: &Client<'_>, path: &Path) -> anyhow::Result<Exit> {
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
    let request = keep(args, &input, text)?;
    let checked = checked(args, project, &input, text);
    if !checked.decision.allow {
        show_refused(&checked, Source { name: &input.name, text });
        // It is asked for all the same: that it was refused is recorded.
        return match ask(client, &request) {
            Ok(_) | Err(Failure::Refused(_)) => Ok(Exit::Refused),
            Err(failure) => failed(failure),
        };
    }
    match ask(client, &request) {
        Ok(reply) => {
            let event = reply.events.first().context("the event that was recorded cannot be read back")?;
            output::print(&shown(args, &input.name, event, reply.repeated));
            Ok(Exit::Allowed)
        }
        Err(failure) => failed(failure),
    }
}

/// Asks for it, here or at the server.
fn ask(client: &Client<'_>, request: &Keep) -> Result<Reply, Failure> {
    let (Ok(engine), Ok(around), Ok(call)) = (client.engine(), client.around(), client.call()) else {
        return client.ask(Keep::INFO.id, &serde_json::to_value(request).unwrap_or_default());
    };
    let reply = engine.submit(around, call, request)?;
    let answer = serde_json::to_value(&reply.answer).unwrap_or_default();
    Ok(Reply { answer, events: reply.events, repeated: reply.repeated, findings: reply.findings })
}

fn keep(args: &Args, input: &Input, text: &str) -> anyhow::Result<Keep> {
    let file = Text::parse(&input.name).context("the name of a file that is kept has at most 1000 characters")?;
    Ok(Keep { file, contract: args.contract.clone(), body: Payload(Untrusted::new(text.to_owned())) })
}

fn checked(args: &Args, project: &Project, input: &Input, text: &str) -> Checked {
    let outside = world::outside(None);
    let request =
        Request { contract: args.contract.as_deref(), ..Request::alone(Source { name: &input.name, text }, &outside) };
    let path = input.path.as_deref().unwrap_or(Path::new(""));
    checking::checked(&project.checker(), project, &request, path)
}

/// Shows what is wrong with a payload.
fn show_refused(checked: &Checked, source: Source<'_>) {
    let terminal = Terminal::stderr();
    let decision = &checked.decision;
    let look = output::look(terminal.look(), source.text, checked);
    let masked = output::masked(source.text, decision);
    let shown = Source { text: &masked, ..source };
    for diagnostic in decision.details.diagnostics.iter().filter(|it| it.severity == Severity::Error) {
        output::say_rendered(&text::diagnostic(diagnostic, shown, look));
    }
    output::say_rendered(&terminal.bold(&text::verdict(decision)));
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
