//! How a person answers for an action of a plan: what they answer is what they were shown, and a mark says what that was.

use super::answering::{agreed, may_not};
use crate::cli::asking::{Here, ask_of, refused, without_nothing, wrong};
use crate::cli::task::answering::Asked;
use crate::cli::words::text;
use crate::cli::{Exit, output};
use crate::client::Client;
use crate::terminal;
use countersign_contract::diagnostic::Code;
use countersign_contract::show;
use countersign_diagnostic::visible_lines;
use countersign_domain::deciding::Refusal;
use serde_json::{Value, json};

/// What is in the environment of agents, and of checks of what they did.
const MARKS: &[&str] = &["COUNTERSIGN_ATTEMPT", "COUNTERSIGN_CHECK"];

/// An answer to be given.
pub struct Answer<'a> {
    /// The command.
    pub id: &'static str,
    /// What was typed.
    pub asked: &'a Asked,
    /// What a person is asked who was just shown it.
    pub question: &'a str,
}

/// Gives an answer. Without a mark the instruction is shown first, and the person is asked whether they mean it.
pub fn answer(here: &Here<'_>, answer: &Answer<'_>) -> anyhow::Result<Exit> {
    let Answer { id, asked, question } = answer;
    let Asked { task, reason, shown, of, once } = asked;
    if let Some(refusal) = of_agent() {
        return refused(refusal.into(), once.how.format);
    }
    let client = Client::open(here.project, here.global)?.with_key(once.key.as_deref())?;
    let mark = match shown.mark() {
        Some(mark) => mark.to_owned(),
        None => {
            if let Some(exit) = may_not(&client, id, once)? {
                return Ok(exit);
            }
            if !terminal::can_ask() {
                let why =
                    "an answer counts for what was shown: give the mark that `countersign inbox` shows, as --shown";
                return Err(wrong(why));
            }
            let action =
                match client.look("delegation.task", &without_nothing(json!({ "run_id": of.id(), "task_id": task }))) {
                    Ok(action) => action,
                    Err(failure) => return refused(failure, once.how.format),
                };
            let Some(mark) = action["shown"].as_str() else {
                let reason = format!("{} does not ask for an approval: {}", show(task), stands(&action));
                let help = "`countersign inbox` shows what is asked";
                return refused(Refusal::new(Code::InvalidTransition, reason, help).into(), once.how.format);
            };
            output::say_rendered(&visible_lines(said(&action).trim_end()));
            if !agreed(question)? {
                output::say("nothing was done");
                return Ok(Exit::Refused);
            }
            mark.to_owned()
        }
    };
    let request = json!({ "run_id": of.id(), "task_id": task, "shown": mark, "reason": reason });
    ask_of(&client, once.how.format, id, request, |answer| followed(answer, task))
}

/// Why this process answers for nothing: it is that of an agent, or of a check of what one did.
pub fn of_agent() -> Option<Refusal> {
    let reason = "this is the process of an agent, and what is done in its run is for a person to answer for";
    let help = "leave it to whoever looks into `countersign inbox`";
    let is_one = MARKS.iter().any(|mark| std::env::var_os(mark).is_some());
    is_one.then(|| Refusal::new(Code::AuthorizationMissing, reason, help))
}

/// How it stands with an action that nobody is asked about.
fn stands(action: &Value) -> &'static str {
    match action["step"].as_str() {
        Some("ask") => "it will, when the run comes to it",
        Some("act") if action["asks"] == true => "it was approved",
        Some("act") => "it is carried out without one",
        Some("rest") => "it was tried, and is tried again later",
        _ => "it was answered",
    }
}

/// What followed, in a line.
fn followed(answer: &Value, task: &str) -> String {
    let [status, reason] = ["status", "reason"].map(|name| text(answer, name));
    format!("{task}: {status}, {reason}\n  go on  countersign run --resume\n")
}

/// The exact instruction.
fn said(action: &Value) -> String {
    let field = |name: &str| action[name].as_str().unwrap_or("-");
    let (id, executor, sha256) = (field("instruction_id"), field("executor"), field("sha256"));
    let instruction: Value = serde_json::from_str(field("instruction")).unwrap_or_default();
    let whole = serde_json::to_string_pretty(&instruction).unwrap_or_default();
    format!("{id}, to be carried out by {executor}\nSHA-256 {sha256}\n{whole}\n")
}
