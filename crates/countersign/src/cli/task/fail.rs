//! `countersign task fail`

use super::answering::{self, Answer, Asked};
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::Here;
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
    #[command(flatten)]
    asked: Asked,

    /// What it is filed under; `countersign explain` knows the codes
    #[arg(long, value_name = "CODE")]
    code: String,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let mut request = args.asked.request();
    request["code"] = json!(args.code);
    let question = format!("Give {} up as failed?", args.asked.task);
    let answer = Answer { id: "task.fail", asked: &args.asked, request, question: &question };
    answering::answer(here, answer, |answer| stands(answer, &args.asked.task))
}
