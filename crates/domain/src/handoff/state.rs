//! What is known of traces, folded from events.

use super::event::{HANDOFF_NOTED, HANDOFF_RECEIVED, HANDOFF_SENT};
use super::row::{ErrorRow, ReceiptRow, StepRow, TraceRow, trace_key};
use crate::deciding::{Happened, Key};
use serde::Deserialize;
use serde_json::Value;

/// Which entities an event changes.
pub fn touched(event: &Happened<'_>) -> Vec<Key> {
    match event.kind {
        HANDOFF_SENT | HANDOFF_RECEIVED | HANDOFF_NOTED => {
            event.facts["trace"].as_str().map(trace_key).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// What a trace is after an event.
pub fn evolve(before: Option<&Value>, event: &Happened<'_>) -> Option<Value> {
    let mut row = match before {
        Some(before) => TraceRow::deserialize(before).ok()?,
        None => TraceRow { trace: event.facts["trace"].as_str()?.to_owned(), steps: Vec::new() },
    };
    match event.kind {
        HANDOFF_SENT => row.steps.push(sent(event)?),
        HANDOFF_RECEIVED => {
            let number = event.facts["step"].as_u64()?;
            let step = row.steps.iter_mut().find(|step| step.step == number)?;
            step.received = Some(ReceiptRow { seq: event.seq, at: event.time.to_owned(), by: event.actor.to_owned() });
        }
        HANDOFF_NOTED => {
            let number = event.facts["step"].as_u64()?;
            let step = row.steps.iter_mut().find(|step| step.step == number)?;
            let (seq, by) = (event.seq, event.actor.to_owned());
            match event.facts["code"].as_str() {
                Some(code) => step.errors.push(ErrorRow { seq, code: code.to_owned(), by }),
                None => step.processed = Some(ReceiptRow { seq, at: event.time.to_owned(), by }),
            }
        }
        _ => {}
    }
    serde_json::to_value(row).ok()
}

fn sent(event: &Happened<'_>) -> Option<StepRow> {
    let facts = event.facts;
    let text = |name: &str| facts[name].as_str().map(str::to_owned);
    Some(StepRow {
        step: facts["step"].as_u64()?,
        source: text("source")?,
        target: text("target")?,
        chain: Deserialize::deserialize(&facts["chain"]).ok()?,
        after: facts["after"].as_u64(),
        made: text("made")?,
        expires_at: text("expires_at"),
        tokens: facts["tokens"].as_u64().unwrap_or(0),
        kept: Deserialize::deserialize(&facts["kept"]).unwrap_or_default(),
        sums: Deserialize::deserialize(&facts["sums"]).unwrap_or_default(),
        run: text("run"),
        sent: event.seq,
        sent_at: event.time.to_owned(),
        sent_by: event.actor.to_owned(),
        received: None,
        processed: None,
        errors: Vec::new(),
    })
}
