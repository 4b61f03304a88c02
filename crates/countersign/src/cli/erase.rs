//! `countersign erase`

use super::asking::{How, line, refused};
use super::output::Format;
use super::{Exit, Global, output, show};
use crate::client::Client;
use crate::project::Project;
use anyhow::{Context, bail};
use countersign_engine::{Engine, StoredText};
use countersign_ledger::{Error, unfinished_erasure};
use serde_json::json;

/// Remove the texts of an event for good, and record that and why
///
/// The event itself stays, with the hashes of its texts, so that the chain still holds. Copies that were made before
/// (backups, exports, file systems that keep old blocks) are out of reach.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign erase 12 --reason 'personal data, request 4711'
  countersign erase 019a8c1e-7f43-7cc0-b6f5-0a5f8c9d2e11 --reason 'recorded by mistake' --format json")]
pub struct Args {
    /// The event's number or id
    #[arg(value_name = "ID")]
    what: String,

    /// Why the text must go; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, global: &Global, project: &Project) -> anyhow::Result<Exit> {
    if countersign_contract::scan::redact(&args.reason).is_some() {
        bail!("the reason has a secret in it, and it would be recorded; say it without");
    }
    let client = Client::open(project, global)?;
    let engine = client.engine()?;
    let seq = show::find(engine, &args.what)?;
    let texts = engine.texts(seq)?;
    let gone = !texts.is_empty() && texts.iter().all(|text| *text == StoredText::Erased);
    if gone && unfinished_erasure(&mut *engine.ledger().store()?)? {
        scrub(engine)?;
        let said = format!("erased: what was left of the texts of event {seq}, which were erased before\n");
        output::print(&erased(args.how.format, seq, None, said));
        return Ok(Exit::Allowed);
    }
    let reply = match client.ask("text.erase", &json!({ "event": seq, "reason": args.reason })) {
        Ok(reply) => reply,
        Err(failure) => return refused(failure, args.how.format),
    };
    let event = reply.events.first().context("the erasure cannot be read back")?;
    scrub(engine)?;
    let said = format!("erased: the texts of event {seq}, as event {} says\n", event.seq);
    output::print(&erased(args.how.format, seq, Some(event.seq), said));
    Ok(Exit::Allowed)
}

/// That the texts of an event are gone, and which event says so, if this call made one.
fn erased(format: Format, seq: u64, by: Option<u64>, said: String) -> String {
    match format {
        Format::Text => said,
        Format::Json => line(&json!({ "erased": seq, "by": by })),
    }
}

fn scrub(engine: &Engine) -> anyhow::Result<()> {
    let left = "the text is erased from the ledger, but a copy of it is left; `countersign doctor --fix` removes it";
    match engine.ledger().store()?.scrub() {
        // The erasure was written: what was not is only that nothing is left of it.
        Err(Error::NotWritten(why)) => bail!("{left}: {why}"),
        scrubbed => scrubbed.context(left),
    }
}
