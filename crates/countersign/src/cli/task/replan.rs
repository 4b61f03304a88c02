//! `countersign task replan`

use super::answering::{Answer, Asked, answer_of};
use super::spec::Spec;
use super::stands;
use crate::cli::Exit;
use crate::cli::asking::{Here, refused, without_nothing};
use crate::client::Client;
use serde_json::{Map, Value, json};

/// Ask for a task anew: other scope, criteria or context
///
/// It must wait or be blocked. What is not given stays as it is; a list that is given replaces the whole list.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign task replan T-1 --lock src/money src/tax --reason 'the scope was too narrow'

In a run that follows a plan this is for people: at a terminal, or with an owner's token (--token-file).
What waits for a person is answered with the mark that `countersign inbox` prints (--shown): the answer counts for what
was shown, once, and for a day.")]
pub struct Args {
    #[command(flatten)]
    asked: Asked,

    #[command(flatten)]
    spec: Spec,
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?.with_key(args.asked.once.key.as_deref())?;
    let question = without_nothing(json!({ "run_id": args.asked.of.id(), "task_id": args.asked.task }));
    let mut task = match client.look("task.assignment", &question) {
        Ok(shown) => as_asked(shown),
        Err(failure) => return refused(failure, args.asked.once.how.format),
    };
    args.spec.put_over(&mut task, here)?;
    let request = json!({ "run_id": args.asked.of.id(), "task": task, "reason": args.asked.reason });
    let question = format!("Ask for {} anew?", args.asked.task);
    let answer = Answer { id: "task.replan", asked: &args.asked, request, question: &question };
    answer_of(&client, answer, |answer| stands(answer, &args.asked.task))
}

/// What is asked for now: an assignment has the task, and what belongs to it beside.
fn as_asked(mut shown: Value) -> Map<String, Value> {
    let assignment = shown["assignment"].take();
    let mut task = assignment["task"].as_object().cloned().unwrap_or_default();
    task.insert("context_package".to_owned(), assignment["context_package"].clone());
    task
}
