//! `countersign handoff receive`

use super::arriving;
use super::onward::Document;
use crate::cli::asking::{Here, Once, line, refused, without_nothing, wrong};
use crate::cli::output::Format;
use crate::cli::words::text;
use crate::cli::{Exit, output};
use crate::client::Client;
use countersign_domain::handoff::payload::TraceId;
use countersign_engine::Failure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Receive a handoff: what arrives is compared with what was sent, and recorded once
///
/// `loaded`: it may be acted on. `hash_mismatch`: it is not what was sent. `ignored_stale`: it has expired. A handoff for
/// somebody else is refused. By its trace alone, the document comes from the ledger.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff receive handoff.json --as builder
  countersign handoff receive 550e8400-e29b-41d4-a716-446655440000 --skill builder --out handoff.json")]
pub struct Args {
    /// The file that arrived, or - for standard input; or the id of a trace
    #[arg(value_name = "FILE|TRACE")]
    what: String,

    /// Who receives; otherwise who is named with --as
    #[arg(long, value_name = "SKILL")]
    skill: Option<String>,

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
    let client = Client::open(here.project, here.global)?.with_key(args.once.key.as_deref())?;
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
        Err(failure) => return not_loaded(failure, format),
    };
    for finding in &reply.findings {
        let word = finding.severity.as_str();
        output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
    }
    reply.answer["repeated"] = json!(reply.answer["seq"].is_null() || reply.repeated);
    match &document {
        Some(document) => {
            arriving::note_in_file(here, document, skill);
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

/// What became of a handoff that is not loaded; for programs, by its name.
fn not_loaded(failure: Failure, format: Format) -> anyhow::Result<Exit> {
    if let (Failure::Refused(refusal), Format::Json) = (&failure, format)
        && let Some((state @ ("ignored_stale" | "hash_mismatch"), _)) = refusal.reason.split_once(": ")
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
