//! `countersign task reassign`

use super::answering::{self, Answer, Asked};
use crate::cli::Exit;
use crate::cli::asking::Here;
use crate::cli::words::{text, until};
use serde_json::{Value, json};

/// Give a task to a worker by name; whoever works on it loses it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task reassign T-1 --to coder-2 --reason 'the first worker is stuck'

Not in a run that follows a plan: that says who works. There `countersign task unblock` has the same agent try again, and
`countersign task cancel` gives the task up.")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,

    /// Who works on it from here on
    #[arg(long, value_name = "WORKER")]
    to: String,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let mut request = args.asked.request();
    request["owner"] = json!(args.to);
    let question = format!("Give {} to {}?", args.asked.task, args.to);
    let answer = Answer { id: "task.reassign", asked: &args.asked, request, question: &question };
    answering::answer(here, answer, said)
}

fn said(answer: &Value) -> String {
    let [task, owner, lease] = ["task_id", "owner", "lease"].map(|name| text(answer, name));
    let lapses = until(answer["expires_at"].as_str().unwrap_or("?"));
    format!(
        "reassigned: {task} to {owner}, under lease {lease}\n  lapses  {lapses}, unless {owner} gives a sign of life\n"
    )
}
