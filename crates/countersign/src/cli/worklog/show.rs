//! `countersign worklog show`

use crate::cli::Exit;
use crate::cli::asking::{Here, How, OfRun, list};
use crate::cli::words::{text, texts};
use countersign_diagnostic::visible;
use serde_json::{Value, json};

/// Show the worklog of a task, oldest line first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign worklog show T-1
  countersign worklog show T-1 --format json")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// At most so many lines
    #[arg(long, short = 'n', value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    how: How,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let question = json!({ "run_id": args.of.id(), "task_id": args.task });
    list(here, &args.how, "worklog.show", (question, "lines"), args.limit, said)
}

fn said(shown: &Value) -> String {
    let lines: String = shown["lines"].as_array().into_iter().flatten().map(line).collect();
    if lines.is_empty() { format!("the worklog of {} has no line yet\n", text(shown, "task_id")) } else { lines }
}

/// A line and what it says. That was written by an agent, and stands behind a mark.
fn line(line: &Value) -> String {
    let [seq, time, actor, action] = ["seq", "time", "actor", "action"].map(|name| text(line, name));
    let mut out = format!("{seq:>7}  {time}  {actor}  {action}\n");
    let entry = line["entry"].as_str().unwrap_or_default();
    let Ok(entry) = serde_json::from_str::<Value>(entry) else {
        return format!("{out}         | {}\n", visible(entry));
    };
    let files = texts(&entry, "files_touched").join(", ");
    let fields = [("decision", "decided"), ("result", "result"), ("next_step", "next"), ("code", "code")];
    let fields = fields.map(|(name, word)| (word, text(&entry, name)));
    for (word, value) in fields.into_iter().chain([("files", files)]).filter(|it| !it.1.is_empty()) {
        out.push_str(&format!("         | {word:<8} {value}\n"));
    }
    out
}
