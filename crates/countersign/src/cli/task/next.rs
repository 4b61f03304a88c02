//! `countersign task next`

use super::brief;
use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, look};
use crate::cli::words::text;
use serde_json::{Value, json};

/// Show the best task that is ready and free; looking claims nothing
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task next
  countersign task next --format json")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "task.next", json!({ "run_id": args.of.id() }), said)
}

fn said(shown: &Value) -> String {
    match &shown["task"] {
        Value::Null => format!("nothing to take: {}\n", text(shown, "reason")),
        task => format!("{}  take it      countersign task claim {}\n", brief(task), text(task, "task_id")),
    }
}
