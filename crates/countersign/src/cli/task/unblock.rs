//! `countersign task unblock`

use super::answering::{self, Answer};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once};
use crate::cli::gate::answering::Shown;
use serde_json::json;

/// Let a blocked task be taken again as it is: what it waited for is there
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task unblock T-1 --reason 'the specification was corrected'

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
    let question = format!("Let {} be taken again as it is?", args.task);
    let answer = Answer {
        id: "task.unblock",
        task: &args.task,
        of: &args.of,
        shown: &args.shown,
        request,
        question: &question,
        once: &args.once,
    };
    answering::answer(here, answer, |answer| stands(answer, &args.task))
}
