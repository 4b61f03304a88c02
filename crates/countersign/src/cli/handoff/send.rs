//! `countersign handoff send`

use super::onward::{Document, discover, meant};
use crate::cli::asking::{Here, Once, line, refused, without_nothing, wrong};
use crate::cli::output::Format;
use crate::cli::targets::Among;
use crate::cli::words::{text, texts};
use crate::cli::{Exit, output};
use crate::client::Client;
use crate::files;
use crate::tracing::Tracing;
use countersign_contract::{Form, SIZE_MAX, parse};
use countersign_diagnostic::Code;
use countersign_domain::handoff::noting::difference;
use countersign_engine::{Failure, Reply};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Send a handoff on its way: it is checked, recorded with its document, and notes in its trace that it was sent
///
/// Refused are a handoff that may not pass, one that has expired, and one whose recorded chain goes in a circle. Sending the
/// same once more does nothing. Where no target is named, those that could take over are shown with their points.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff send handoff.json --as planner
  countersign handoff send handoff.json --format json
  countersign handoff send shorter.json --run 3f56dc4d-35cf-4f97-925c-0b04a6fe8bf4")]
pub struct Args {
    /// The handoff, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The run whose handoff it stands in for; only a person may, at a terminal or with a token
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Send it to a target that neither a registry nor a skill file names, though some name others
    #[arg(long)]
    unlisted: bool,

    #[command(flatten)]
    among: Among,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let format = args.once.how.format;
    let Some(document) = Document::read(here, &args.file, format)? else { return Ok(Exit::Refused) };
    let Some(target) = document.word("/handoff/target/skill") else {
        return discover(here, &args.among, &document.value, format);
    };
    let Some(trace) = document.trace(here, format) else { return Ok(Exit::Refused) };
    let chosen = meant(here, &args.among, &document.value, target, args.unlisted, format)?;
    match chosen.as_deref() {
        Some(chosen) if chosen == target => {}
        // Another target is another document.
        Some(chosen) => {
            let help = format!(
                "make it for them: `countersign handoff make --from {} --target {chosen}`",
                args.file.display()
            );
            return Err(wrong(help));
        }
        None => return Ok(Exit::Refused),
    }
    let tracing = Tracing::beside_verb(here);
    let client = Client::open(here.project, here.global)?.with_key(args.once.key.as_deref())?;
    let request = json!({
        "trace_id": trace, "file": document.input.name, "handoff": document.text, "taken": document.taken(here),
        "kept": document.kept(here), "run_id": args.run,
    });
    let mut reply = match ask(&client, &without_nothing(request)) {
        Ok(reply) => reply,
        Err(failure) => return refused(failure, format),
    };
    tracing.end();
    let again = reply.answer["seq"].is_null() || reply.repeated;
    note(&client, &document, trace.as_str(), &reply.answer, again);
    for finding in &reply.findings {
        let word = finding.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
    }
    reply.answer["repeated"] = json!(again);
    output::print(&match format {
        Format::Json => line(&reply.answer),
        Format::Text => said(&reply.answer, trace.as_str(), target, again),
    });
    Ok(Exit::Allowed)
}

/// Sends it. Where another one of its trace was sent at the same time, it is looked at again whether this one may go.
fn ask(client: &Client<'_>, request: &Value) -> Result<Reply, Failure> {
    const TRIES_MAX: usize = 4;
    let mut tries = 1;
    loop {
        match client.ask("handoff.send", request) {
            Err(Failure::Refused(refusal)) if refusal.code == Code::ConcurrencyConflict && tries < TRIES_MAX => {
                tries += 1
            }
            answer => return answer,
        }
    }
}

/// Puts the document as it was sent in the place of the file. That it was sent stands in the ledger; a file that cannot be
/// written only lacks the note.
fn note(client: &Client<'_>, document: &Document, trace: &str, answer: &Value, again: bool) {
    let Some(path) = &document.input.path else { return };
    if again && document.notes("transmitted") {
        return;
    }
    let sent = client.look("handoff.show", &without_nothing(json!({ "trace_id": trace, "step": answer["step"] })));
    let sent = sent.ok().and_then(|shown| shown["document"].as_str().map(str::to_owned));
    let written = match sent {
        // Of a repetition it is not said which one it was; only the last one is taken for it.
        Some(sent) if again && !is_copy(&sent, document) => return,
        Some(sent) if sent == document.text => {
            output::say("warning: the budget has no room for the note that it was sent; the ledger has it");
            return;
        }
        Some(sent) => files::write(path, &sent),
        None => Err(anyhow::anyhow!("the document cannot be read back")),
    };
    if let Err(error) = written {
        output::say(&format!("warning: going on without the note in the file that it was sent: {error:#}"));
    }
}

fn is_copy(sent: &str, document: &Document) -> bool {
    let sent = parse(sent, Form::of_text(sent), SIZE_MAX);
    sent.is_ok_and(|it| difference(&it.root().to_value(), &document.value).is_none())
}

fn said(answer: &Value, trace: &str, target: &str, again: bool) -> String {
    if again {
        return format!("sent already: trace {trace}\n  look  countersign handoff chain {trace}\n");
    }
    let chain = texts(answer, "chain").join(" → ");
    let target = countersign_diagnostic::visible(target);
    format!(
        "sent: handoff {} of trace {trace}, {chain} → {target}, {} tokens\n  next  countersign handoff receive {trace} --skill {target}\n",
        text(answer, "step"),
        text(answer, "tokens"),
    )
}
