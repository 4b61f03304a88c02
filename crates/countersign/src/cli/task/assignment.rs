//! `countersign task assignment`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, look};
use countersign_diagnostic::visible_lines;
use serde_json::json;

/// Show the assignment of a task, as a text for an agent or, as JSON, with the payload
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task assignment T-1
  countersign task assignment T-1 --format json")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let question = json!({ "run_id": args.of.id(), "task_id": args.task });
    look(here, &args.how, "task.assignment", question, |shown| {
        visible_lines(shown["prompt"].as_str().unwrap_or_default()).into_owned()
    })
}
