//! `countersign task unblock`

use super::answering::{self, Answer, Asked};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::Here;

/// Let a blocked task be taken again as it is: what it waited for is there
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task unblock T-1 --reason 'the specification was corrected'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).
What waits for a person is answered with the mark that `countersign inbox` prints (--shown): the answer counts for what
was shown, once, and for a day.")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let request = args.asked.request();
    let question = format!("Let {} be taken again as it is?", args.asked.task);
    let answer = Answer { id: "task.unblock", asked: &args.asked, request, question: &question };
    answering::answer(here, answer, |answer| stands(answer, &args.asked.task))
}
