//! `countersign task fail`

use super::answering::{self, Answer};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, OfRun, Once};
use crate::cli::gate::answering::Shown;
use serde_json::json;

/// Give a task up for good
///
/// A worker that failed says so with a result instead, and may be followed by another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task fail T-1 --code NON_COMPLIANT --reason 'it cannot be done this way'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).
What waits for a person is answered with the mark that `countersign inbox` prints (--shown): the answer counts for what
was shown, once, and for a day.")]
pub struct Args {
    /// The task
    #[arg(value_name = "TASK")]
    task: String,

    /// What it is filed under; `countersign explain` knows the codes
    #[arg(long, value_name = "CODE")]
    code: String,

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
    let request = json!({ "run_id": args.of.id(), "task_id": args.task, "code": args.code, "reason": args.reason });
    let question = format!("Give {} up as failed?", args.task);
    let answer = Answer {
        id: "task.fail",
        task: &args.task,
        of: &args.of,
        shown: &args.shown,
        request,
        question: &question,
        once: &args.once,
    };
    answering::answer(here, answer, |answer| stands(answer, &args.task))
}
