//! `countersign apply`

use super::Exit;
use super::asking::{Here, Once, bring, text_of};
use super::words::text;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Apply an orchestrator's envelope, all of it or nothing
///
/// The changes of its operator ledger and its assignments go the same way as `countersign task …`. A change that was
/// applied before is known, and not applied again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign apply envelope.json --as orchestrator
  countersign apply - < envelope.yaml")]
pub struct Args {
    /// The envelope, in JSON or YAML; - is standard input
    #[arg(value_name = "ENVELOPE")]
    envelope: PathBuf,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let envelope = text_of(here, &args.envelope)?;
    bring(here, &args.once, "envelope.apply", (&args.envelope, json!({ "envelope": envelope })), said)
}

fn said(answer: &Value) -> String {
    let [run, deltas, known, assignments] = ["run_id", "deltas", "known", "assignments"].map(|name| text(answer, name));
    format!("applied: {deltas} changes, {known} known before, {assignments} assignments, to run {run}\n")
}
