//! `countersign task list`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, list};
use crate::cli::words::{Table, left, status, text, texts};
use serde_json::{Value, json};

/// List the tasks of a run, in the order in which they were added
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task list
  countersign task list --status in_progress
  countersign task list --format json")]
pub struct Args {
    /// Only those in this state: todo, in_progress, blocked, done, failed or canceled
    #[arg(long, value_name = "STATE")]
    status: Option<String>,

    /// At most so many
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let question = json!({ "run_id": args.of.id(), "status": args.status });
    list(here, &args.how, "task.list", (question, "tasks"), args.limit, table)
}

fn table(shown: &Value) -> String {
    let mut table = Table::new(["TASK", "STATUS", "OWNER", "LEFT", "PRIORITY", "WAITS FOR", "TITLE"]);
    for task in shown["tasks"].as_array().into_iter().flatten() {
        let [id, owner, priority, title] = ["task_id", "owner", "priority", "title"].map(|name| text(task, name));
        table.row([
            id,
            status(task),
            owner,
            left(task, "expires_at"),
            priority,
            texts(task, "waiting_for").join(", "),
            title,
        ]);
    }
    table.text_or("no task")
}
