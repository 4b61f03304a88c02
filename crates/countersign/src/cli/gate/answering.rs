//! How a person answers at a gate: what they answer is what they were shown, and a mark says what that was.

use super::of::Of;
use super::{followed, standing};
use crate::cli::asking::{Here, Once, ask_of, refused, without_nothing, wrong};
use crate::cli::{Exit, output};
use crate::client::Client;
use crate::terminal;
use countersign_diagnostic::visible_lines;
use countersign_engine::command_row;
use serde_json::{Value, json};
use std::io::BufRead;

/// What was shown.
#[derive(Debug, clap::Args)]
pub struct Shown {
    /// The mark of what you answer, as `gate status` and `inbox` print it; at a terminal that is shown, and you are asked
    #[arg(long, value_name = "MARK")]
    shown: Option<String>,
}

impl Shown {
    /// The mark, if one was given.
    pub fn mark(&self) -> Option<&str> {
        self.shown.as_deref()
    }
}

/// An answer to be given.
pub struct Answer<'a> {
    /// The command.
    pub id: &'static str,
    /// Whose gates.
    pub of: &'a Of,
    /// What was shown, if that is said.
    pub shown: &'a Shown,
    /// The rest of the request.
    pub rest: Value,
    /// What a person is asked who was just shown it.
    pub question: &'a str,
    /// How often, and how it is written.
    pub once: &'a Once,
}

/// Gives an answer. Without a mark the gates are shown first, and the person is asked whether they mean it.
pub fn answer(here: &Here<'_>, answer: Answer<'_>) -> anyhow::Result<Exit> {
    let Answer { id, of, shown, mut rest, question, once } = answer;
    let client = Client::open(here.project, here.global)?.with_key(once.key.as_deref())?;
    let mark = match &shown.shown {
        Some(mark) => mark.clone(),
        None => {
            if let Some(exit) = may_not(&client, id, once)? {
                return Ok(exit);
            }
            if !terminal::can_ask() {
                return Err(wrong(format!(
                    "an answer counts for what was shown: give the mark with which `countersign gate status {}` ends, as --shown",
                    of.name
                )));
            }
            let status = match client.look("gate.status", &without_nothing(of.request(json!({})))) {
                Ok(status) => status,
                Err(failure) => return refused(failure, once.how.format),
            };
            output::say_rendered(&visible_lines(standing::said(&status).trim_end()));
            if !agreed(question)? {
                output::say("nothing was done");
                return Ok(Exit::Refused);
            }
            status["shown"].as_str().unwrap_or_default().to_owned()
        }
    };
    rest["shown"] = json!(mark);
    ask_of(&client, once.how.format, id, of.request(rest), |answer| followed(answer, &of.name))
}

/// Refuses somebody who may not answer before anything is asked of them. Of a server only the answer itself tells.
pub fn may_not(client: &Client<'_>, id: &'static str, once: &Once) -> anyhow::Result<Option<Exit>> {
    let (Ok(call), Some(row)) = (client.call(), command_row(id)) else { return Ok(None) };
    match call.may(id, row.info.may) {
        Ok(()) => Ok(None),
        Err(refusal) => refused(refusal.into(), once.how.format).map(Some),
    }
}

/// Whether the person at the terminal means it.
pub fn agreed(question: &str) -> anyhow::Result<bool> {
    output::say(&format!("{question} [y/N]"));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
