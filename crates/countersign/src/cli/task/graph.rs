//! `countersign task graph`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, look};
use crate::cli::words::{Table, status, text, texts};
use serde_json::{Value, json};

/// Show what waits for what in a run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task graph
  countersign task graph --format json")]
pub struct Args {
    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    look(here, &args.how, "task.graph", json!({ "run_id": args.of.id() }), table)
}

fn table(shown: &Value) -> String {
    let mut table = Table::new(["TASK", "STATUS", "AFTER", "STILL WAITS FOR", "TITLE"]);
    for task in shown["tasks"].as_array().into_iter().flatten() {
        let [after, waits] = ["depends_on", "waiting_for"].map(|name| texts(task, name).join(", "));
        table.row([text(task, "task_id"), status(task), after, waits, text(task, "title")]);
    }
    let mut out = table.text_or("no task");
    if shown["next"].is_string() {
        out.push_str("there are more; --format json has `next`, and `countersign task list` shows all\n");
    }
    out
}
