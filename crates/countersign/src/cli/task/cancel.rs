//! `countersign task cancel`

use super::answering::{self, Answer};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once};
use crate::cli::gate::answering::Shown;
use serde_json::json;

/// Take a task back that is not wanted any more; it is never reopened in this run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task cancel T-1 --reason 'another task covers it'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).
What waits for a person is answered with the mark that `countersign inbox` prints (--shown): the answer counts for what
was shown, once, and for a day.")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    shown: Shown,

    #[command(flatten)]
    of: OfRun,

    #[command(flatten)]
    once: Once,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = json!({ "run_id": args.of.id(), "task_id": args.task, "reason": args.reason });
    let question = format!("Take {} back for good?", args.task);
    let answer = Answer {
        id: "task.cancel",
        task: &args.task,
        of: &args.of,
        shown: &args.shown,
        request,
        question: &question,
        once: &args.once,
    };
    answering::answer(here, answer, |answer| stands(answer, &args.task))
}
