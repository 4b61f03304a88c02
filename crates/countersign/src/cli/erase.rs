//! `countersign erase`

use super::{Exit, Global, failed, output, show};
use crate::place::{self, Place};
use anyhow::{Context, bail};
use countersign_contract::Untrusted;
use countersign_domain::project::{Erase, RECORD_KEPT};
use countersign_engine::{Engine, StoredText};
use countersign_ledger::{Hash, unfinished_erasure};

/// Remove the texts of an event for good, and record that and why
///
/// The event itself stays, with the hashes of its texts, so that the chain still holds. Copies that were made before
/// (backups, exports, file systems that keep old blocks) are out of reach.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign erase 12 --reason 'personal data, request 4711'
  countersign erase 019a8c1e-7f43-7cc0-b6f5-0a5f8c9d2e11 --reason 'recorded by mistake'")]
pub struct Args {
    /// The event's number or id
    #[arg(value_name = "ID")]
    what: String,

    /// Why the text must go; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub fn run(args: &Args, global: &Global, place: &Place) -> anyhow::Result<Exit> {
    if countersign_contract::scan::redact(&args.reason).is_some() {
        bail!("the reason has a secret in it, and it would be recorded; say it without");
    }
    let engine = place.engine()?;
    let seq = show::find(&engine, &args.what)?;
    let call = place::call(global.actor.as_deref(), None)?;
    let erase = erasure(&engine, seq, &args.reason)?;
    if erase.texts.is_empty() && !engine.texts(seq)?.is_empty() && unfinished_erasure(&mut *engine.ledger().store()?)? {
        scrub(&engine)?;
        output::print(&format!("erased: what was left of the texts of event {seq}, which were erased before\n"));
        return Ok(Exit::Allowed);
    }
    let answer = match engine.submit(&call, Hash::of(args.reason.as_bytes()), erase) {
        Ok(answer) => answer,
        Err(failure) => return failed(failure),
    };
    let event = answer.events.first().context("the erasure cannot be read back")?;
    scrub(&engine)?;
    output::print(&format!("erased: the texts of event {seq}, as event {} says\n", event.seq));
    Ok(Exit::Allowed)
}

fn scrub(engine: &Engine) -> anyhow::Result<()> {
    let scrubbed = engine.ledger().store()?.scrub();
    scrubbed
        .context("the text is erased from the ledger, but a copy of it is left; `countersign doctor --fix` removes it")
}

fn erasure(engine: &Engine, seq: u64, reason: &str) -> anyhow::Result<Erase> {
    let stored = engine.stored(seq, seq)?;
    let target = stored.first().with_context(|| format!("there is no event {seq}"))?;
    let kind = target.text("kind").to_owned();
    let record = target.facts()["record"].as_str().filter(|_| kind == RECORD_KEPT).map(str::to_owned);
    let texts = (0..).zip(engine.texts(seq)?).filter(|(_, text)| *text != StoredText::Erased).map(|(n, _)| n).collect();
    Ok(Erase { seq, kind, record, texts, reason: Untrusted::new(reason.to_owned()) })
}
