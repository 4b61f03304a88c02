//! `countersign show`

use super::output::Format;
use super::{Exit, output};
use crate::place::Place;
use anyhow::bail;
use countersign_diagnostic::{visible, visible_lines};
use countersign_domain::deciding::Key;
use countersign_engine::{Engine, Stored, StoredText};
use std::fmt::Write;

/// Show one event with its texts, or what is known of an entity
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign show 12
  countersign show 019a8c1e-7f43-7cc0-b6f5-0a5f8c9d2e11
  countersign show record/73e2149f-7ab2-4d0d-9305-6ed407a60b45")]
pub struct Args {
    /// The event's number or id, or an entity as `kind/id`
    #[arg(value_name = "SEQ|ID")]
    what: String,

    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How much of a text is shown to people.
const SHOWN_MAX: usize = 4_000;
/// How many events of an entity's past are listed: the last ones.
const HISTORY_MAX: usize = 50;

pub fn run(args: &Args, place: &Place) -> anyhow::Result<Exit> {
    let engine = place.engine()?;
    let shown = match args.what.split_once('/') {
        Some((kind, id)) => entity(&engine, &Key::new(kind, id), args.format)?,
        None => event(&engine, find(&engine, &args.what)?, args.format)?,
    };
    output::print(&shown);
    Ok(Exit::Allowed)
}

/// The number of an event that was named by number or id.
pub fn find(engine: &Engine, what: &str) -> anyhow::Result<u64> {
    let seq = match what.parse() {
        Ok(seq) => seq,
        Err(_) => match engine.ledger().find(what)? {
            Some(seq) => seq,
            None => bail!("there is no event `{what}`; `countersign log` lists them"),
        },
    };
    let head = engine.ledger().head()?.seq;
    if seq == 0 || seq > head {
        bail!("there is no event {seq}; the last is {head}");
    }
    Ok(seq)
}

fn event(engine: &Engine, seq: u64, format: Format) -> anyhow::Result<String> {
    let Some(event) = engine.stored(seq, seq)?.into_iter().next() else { bail!("there is no event {seq}") };
    let texts = engine.texts(seq)?;
    if format == Format::Json {
        let texts: Vec<_> = texts.iter().map(text_json).collect();
        return Ok(format!(
            "{}\n",
            serde_json::json!({ "event": event.value(), "hash": event.hash.to_string(), "texts": texts })
        ));
    }
    let mut out = envelope(&event);
    for (n, text) in texts.iter().enumerate() {
        let _ = match text {
            StoredText::Erased => writeln!(out, "\ntext {n}: erased"),
            StoredText::Bytes(bytes) => writeln!(out, "\ntext {n}: {} bytes that are no text", bytes.len()),
            StoredText::Said(text) => text.inspect(|text| said(&mut out, n, text)),
        };
    }
    Ok(out)
}

/// A text as data: it may say anything, so every line of it stands behind a mark.
fn said(out: &mut String, n: usize, text: &str) -> std::fmt::Result {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    writeln!(out, "\ntext {n}, {} bytes, as it was given:", text.len())?;
    for line in visible_lines(&shown).lines() {
        writeln!(out, "  | {line}")?;
    }
    if shown.len() < text.len() {
        writeln!(out, "  … and {} bytes more; --format json has all of it", text.len() - shown.len())?;
    }
    Ok(())
}

fn text_json(text: &StoredText) -> serde_json::Value {
    match text {
        StoredText::Erased => serde_json::Value::Null,
        StoredText::Bytes(bytes) => serde_json::json!({ "hex": countersign_ledger::hex(bytes) }),
        StoredText::Said(text) => serde_json::json!({ "text": text, "untrusted": true }),
    }
}

fn envelope(event: &Stored) -> String {
    let mut out = format!("event {}  {}\n", event.seq, visible(&event.summary()));
    let fields = event
        .value()
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| !matches!(name.as_str(), "seq" | "facts" | "texts"));
    for (name, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "  {name:<8} {}", visible(&value));
    }
    let _ = writeln!(out, "  {:<8} {}", "hash", event.hash);
    let _ = writeln!(out, "facts");
    for (name, value) in event.facts().as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "  {:<8} {}", visible(name), visible(&value));
    }
    out
}

fn entity(engine: &Engine, key: &Key, format: Format) -> anyhow::Result<String> {
    let Some(found) = engine.entity(key)? else { bail!("there is no {} `{}`", key.kind, key.id) };
    let past = engine.ledger().history(&countersign_ledger::Key::new(&*key.kind, &*key.id), HISTORY_MAX)?;
    if format == Format::Json {
        let value = serde_json::json!({ "kind": *key.kind, "id": *key.id, "version": found.version, "facts": found.facts.value(), "events": past });
        return Ok(format!("{value}\n"));
    }
    let mut out =
        format!("{} {}\n  version  {} (event {})\n", visible(&key.kind), visible(&key.id), found.version, found.seq);
    for (name, value) in found.facts.as_object().into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(out, "  {:<8} {}", visible(name), visible(&value));
    }
    let earlier = found.version.saturating_sub(past.len() as u64);
    let past: Vec<_> = past.iter().map(u64::to_string).collect();
    let before = if earlier > 0 { format!("{earlier} earlier ones, then ") } else { String::new() };
    let _ = writeln!(out, "  events   {before}{}", past.join(", "));
    Ok(out)
}
