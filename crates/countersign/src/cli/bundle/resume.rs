//! `countersign bundle resume`

use crate::cli::Exit;
use crate::cli::asking::{Here, Once, ask, text_of};
use crate::cli::words::text;
use serde_json::json;
use std::path::PathBuf;

/// Go on with a run as its orchestrator, from the bundle that was handed over
///
/// A bundle that does not say how the run stands now is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign bundle resume bundle.json --as orchestrator-2")]
pub struct Args {
    /// The bundle, in JSON or YAML; - is standard input
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let bundle = text_of(here, &args.bundle)?;
    ask(here, &args.once, "bundle.resume", json!({ "bundle": bundle }), |answer| {
        format!("resumed: run {}\n", text(answer, "run_id"))
    })
}
