//! `countersign handoff chain`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, look};
use crate::cli::words::{Table, text, texts};
use serde_json::{Value, json};

/// Show who handed what to whom in a trace, when, and what is kept beside it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff chain 550e8400-e29b-41d4-a716-446655440000
  countersign handoff chain 550e8400-e29b-41d4-a716-446655440000 --format json")]
pub struct Args {
    /// The trace
    #[arg(value_name = "TRACE")]
    trace: String,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "handoff.chain", json!({ "trace_id": args.trace }), said)
}

fn said(shown: &Value) -> String {
    let mut table = Table::new(["STEP", "FROM", "TO", "STATUS", "SENT", "RECEIVED BY", "TOKENS", "THE REST IS IN"]);
    for step in shown["steps"].as_array().into_iter().flatten() {
        let cell = |name: &str| text(step, name);
        let kept = texts(step, "kept").join(", ");
        table.row([
            cell("step"),
            cell("source"),
            cell("target"),
            cell("status"),
            cell("sent_at"),
            cell("received_by"),
            cell("tokens"),
            kept,
        ]);
    }
    table.text_or("nothing was sent in this trace")
}
