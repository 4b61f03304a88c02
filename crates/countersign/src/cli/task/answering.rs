//! How a person answers what they are asked about a task: what they answer is what they were shown, and a mark says what that
//! was. Where nobody is asked, nothing is shown.

use crate::cli::asking::{Here, OfRun, Once, ask_of, pages, refused, without_nothing};
use crate::cli::gate::answering::{Shown, agreed};
use crate::cli::{Exit, inbox, output};
use crate::client::Client;
use crate::terminal;
use countersign_engine::Failure;
use serde_json::{Value, json};

/// Which task, and why.
#[derive(Debug, clap::Args)]
pub struct Asked {
    /// The task
    #[arg(value_name = "TASK")]
    pub task: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    #[command(flatten)]
    pub shown: Shown,

    #[command(flatten)]
    pub of: OfRun,

    #[command(flatten)]
    pub once: Once,
}

impl Asked {
    /// What every answer says.
    pub fn request(&self) -> Value {
        json!({ "run_id": self.of.id(), "task_id": self.task, "reason": self.reason })
    }
}

/// An answer to be given.
pub struct Answer<'a> {
    /// The command.
    pub id: &'static str,
    /// What was typed.
    pub asked: &'a Asked,
    /// The request without the mark.
    pub request: Value,
    /// What a person is asked who was just shown it.
    pub question: &'a str,
}

/// Gives an answer. At a terminal without a mark, what is asked is shown first, and the person is asked whether they mean it.
pub fn answer(here: &Here<'_>, answer: Answer<'_>, said: impl FnOnce(&Value) -> String) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?.with_key(answer.asked.once.key.as_deref())?;
    answer_of(&client, answer, said)
}

/// The same of a client that is open.
pub fn answer_of(client: &Client<'_>, answer: Answer<'_>, said: impl FnOnce(&Value) -> String) -> anyhow::Result<Exit> {
    let Answer { id, asked: Asked { task, shown, of, once, .. }, mut request, question } = answer;
    let mut mark = shown.mark().map(str::to_owned);
    if mark.is_none() && terminal::can_ask() {
        let item = match asked(client, task, of) {
            Ok(item) => item,
            Err(failure) => return refused(failure, once.how.format),
        };
        if let Some(item) = item {
            output::say_rendered(inbox::one(&item, &inbox::waited(&item, client)).trim_end());
            if !agreed(question)? {
                output::say("nothing was done");
                return Ok(Exit::Refused);
            }
            mark = item["shown"].as_str().map(str::to_owned);
        }
    }
    request["shown"] = json!(mark);
    ask_of(client, once.how.format, id, request, said)
}

/// What is asked of a person about a task. Nothing, where it waits for nobody, and in a run that somebody orchestrates by hand.
fn asked(client: &Client<'_>, task: &str, of: &OfRun) -> Result<Option<Value>, Failure> {
    let shown = client.look("task.show", &without_nothing(json!({ "run_id": of.id(), "task_id": task })))?;
    let run = &shown["task"]["run_id"];
    if shown["task"]["status"] != "blocked" || client.look("run.show", &json!({ "run_id": run }))?["policy"] != "gates"
    {
        return Ok(None);
    }
    let inbox = pages(client, "inbox.list", (json!({ "run_id": run }), "items"), None)?;
    let items = inbox["items"].as_array().into_iter().flatten();
    Ok(items.filter(|item| item["shown"].is_string()).find(|item| item["task_id"] == task).cloned())
}
