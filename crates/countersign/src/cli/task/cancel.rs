//! `countersign task cancel`

use super::answering::{self, Answer, Asked};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::Here;

/// Take a task back that is not wanted any more; it is never reopened in this run
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task cancel T-1 --reason 'another task covers it'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).
What waits for a person is answered with the mark that `countersign inbox` prints (--shown): the answer counts for what
was shown, once, and for a day.")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = args.asked.request();
    let question = format!("Take {} back for good?", args.asked.task);
    let answer = Answer { id: "task.cancel", asked: &args.asked, request, question: &question };
    answering::answer(here, answer, |answer| stands(answer, &args.asked.task))
}
