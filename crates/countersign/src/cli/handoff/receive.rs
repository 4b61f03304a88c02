//! `countersign handoff receive`

use super::arriving;
use super::onward::Document;
use crate::cli::asking::{Here, Once, line, refused, without_nothing, wrong};
use crate::cli::output::Format;
use crate::cli::words::text;
use crate::cli::{Exit, output};
use crate::client::Client;
use crate::tracing::Tracing;
use countersign_diagnostic::Code;
use countersign_domain::handoff::payload::{EventType, TraceId};
use countersign_engine::Failure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Receive a handoff: what arrives is compared with what was sent, and recorded once
///
/// `loaded`: it may be acted on. `hash_mismatch`: it is not what was sent. `ignored_stale`: it has expired. `incomplete`: what was
/// taken out of it is gone. A handoff for somebody else is refused. By its trace alone, the document comes from the ledger.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff receive handoff.json --as builder
  countersign handoff receive handoff.json --as builder --processed
  countersign handoff receive 550e8400-e29b-41d4-a716-446655440000 --skill builder --out handoff.json")]
pub struct Args {
    /// The file that arrived, or - for standard input; or the id of a trace
    #[arg(value_name = "FILE|TRACE")]
    what: String,

    /// Who receives; otherwise who is named with --as
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,

    /// Say that what was received is processed: who took it is done with it
    #[arg(long, conflicts_with = "out")]
    processed: bool,

    /// Where a document from the ledger is written; otherwise to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let format = args.once.how.format;
    let skill = args.skill.as_ref().or(here.global.actor.as_ref());
    let skill = skill.ok_or_else(|| wrong("say who receives, with --skill or --as"))?;
    let (trace, document) = match TraceId::parse(&args.what) {
        Some(trace) => (trace, None),
        None => {
            if args.out.is_some() {
                return Err(wrong("--out is for a document from the ledger; a file stays where it is"));
            }
            let Some(document) = Document::read(here, Path::new(&args.what), format)? else {
                return Ok(Exit::Refused);
            };
            let Some(trace) = document.trace(here, format) else { return Ok(Exit::Refused) };
            (trace, Some(document))
        }
    };
    let tracing = Tracing::beside_verb(here);
    let client = Client::open(here.project, here.global)?.with_key(args.once.key.as_deref())?;
    if args.processed {
        let exit = processed(&client, trace.as_str(), skill, document.as_ref(), here, format);
        tracing.end();
        return exit;
    }
    let arrives = match &document {
        Some(document) => Some(document.value.clone()),
        None => arriving::waiting(here, &client, trace.as_str(), skill),
    };
    let found =
        arrives.map(|value| arriving::kept(here, &value, document.as_ref().map_or(Path::new(""), Document::path)));
    let request = json!({
        "trace_id": trace, "skill": skill, "file": document.as_ref().map(|it| &it.input.name),
        "handoff": document.as_ref().map(|it| &it.text), "kept": found,
    });
    let mut reply = match client.ask("handoff.receive", &without_nothing(request)) {
        Ok(reply) => reply,
        Err(failure) => {
            note_error(here, trace.as_str(), skill, &failure);
            tracing.end();
            return not_loaded(failure, format);
        }
    };
    tracing.end();
    for finding in &reply.findings {
        let word = finding.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
    }
    reply.answer["repeated"] = json!(reply.answer["seq"].is_null() || reply.repeated);
    match &document {
        Some(document) => {
            arriving::note_in_file(here, document, skill, EventType::Received);
            output::print(&match format {
                Format::Json => line(&reply.answer),
                Format::Text => said(&reply.answer),
            });
        }
        None => {
            let arrived = arriving::from_ledger(here, &client, trace.as_str(), skill)?;
            if let Some(out) = &args.out {
                crate::files::write_new(out, &arrived)?;
            }
            match format {
                Format::Json => {
                    reply.answer["document"] = json!(arrived);
                    output::print(&line(&reply.answer));
                }
                Format::Text if args.out.is_some() => output::print(&said(&reply.answer)),
                Format::Text => {
                    output::say(said(&reply.answer).trim_end());
                    output::print(&arrived);
                }
            }
        }
    }
    Ok(Exit::Allowed)
}

/// Says that who took a handoff is done with it, in the ledger and, if it is there, in the file.
fn processed(
    client: &Client<'_>,
    trace: &str,
    skill: &str,
    document: Option<&Document>,
    here: &Here<'_>,
    format: Format,
) -> anyhow::Result<Exit> {
    let request = json!({ "trace_id": trace, "skill": skill, "event": "processed" });
    let mut reply = match client.ask("handoff.note", &request) {
        Ok(reply) => reply,
        Err(failure) => return refused(failure, format),
    };
    if let Some(document) = document {
        arriving::note_in_file(here, document, skill, EventType::Processed);
    }
    let again = reply.answer["seq"].is_null() || reply.repeated;
    reply.answer["repeated"] = json!(again);
    output::print(&match format {
        Format::Json => line(&reply.answer),
        Format::Text if again => format!("processed already by {skill}, trace {trace}\n"),
        Format::Text => format!("processed: handoff {} of trace {trace} by {skill}\n", text(&reply.answer, "step")),
    });
    Ok(Exit::Allowed)
}

/// Notes that a handoff could not be taken. What is noted is beside the refusal, which counts; that somebody tried who may not, or
/// came too late, is no error of the handoff.
fn note_error(here: &Here<'_>, trace: &str, skill: &str, failure: &Failure) {
    let Failure::Refused(refusal) = failure else { return };
    if matches!(refusal.code, Code::AuthorizationMissing | Code::InvalidTransition) {
        return;
    }
    let says: String = refusal.reason.chars().take(500).collect();
    let code = refusal.code.as_str();
    let request = json!({ "trace_id": trace, "skill": skill, "event": "error", "code": code, "says": says });
    // A key that was given stands for receiving alone.
    if let Ok(client) = Client::open(here.project, here.global) {
        let _ = client.ask("handoff.note", &request);
    }
}

/// What became of a handoff that is not loaded; for programs, by its name.
fn not_loaded(failure: Failure, format: Format) -> anyhow::Result<Exit> {
    if let (Failure::Refused(refusal), Format::Json) = (&failure, format)
        && let Some((state @ ("ignored_stale" | "hash_mismatch" | "incomplete"), _)) = refusal.reason.split_once(": ")
    {
        let shown = json!({
            "allow": false, "state": state, "code": refusal.code.as_str(), "reason": refusal.reason, "help": refusal.help,
        });
        output::print(&line(&shown));
        return Ok(Exit::Refused);
    }
    refused(failure, format)
}

fn said(answer: &Value) -> String {
    let (trace, skill) = (text(answer, "trace_id"), text(answer, "skill"));
    match answer["repeated"] == true {
        true => format!("loaded: received already by {skill}, trace {trace}\n"),
        false => format!("loaded: handoff {} of trace {trace} for {skill}, as it was sent\n", text(answer, "step")),
    }
}
