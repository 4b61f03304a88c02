//! How a verb asks the engine, and how it shows what came of it. Verbs translate; nothing is decided here.

use super::output::Format;
use super::{Exit, Global, output};
use crate::client::Client;
use crate::gather::Input;
use crate::project::Project;
use countersign_diagnostic::{Diagnostic, visible_json};
use countersign_domain::work::NONE_OPEN;
use countersign_engine::{Failure, Reply};
use serde_json::{Value, json};
use std::path::Path;

/// Where a verb is called, and by whom.
pub struct Here<'a> {
    /// What is said of every verb.
    pub global: &'a Global,
    /// The project.
    pub project: &'a Project,
}

/// How an answer is written.
#[derive(Debug, clap::Args)]
pub struct How {
    /// How the answer is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
pub struct Once {
    /// Makes a repetition of this call the same call: it is done once, and answered alike
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,

    #[command(flatten)]
    pub how: How,
}

/// Which run is meant.
#[derive(Debug, clap::Args)]
pub struct OfRun {
    /// The run; otherwise the only one that is open
    #[arg(long, env = "COUNTERSIGN_RUN", value_name = "RUN")]
    run: Option<String>,
}

impl OfRun {
    /// What is asked with. A variable that is set to nothing says nothing.
    pub fn id(&self) -> Option<&str> {
        self.run.as_deref().filter(|run| !run.is_empty())
    }
}

/// Under which lease.
#[derive(Debug, clap::Args)]
pub struct UnderLease {
    /// The number of the lease, as the claim printed it
    #[arg(long, env = "COUNTERSIGN_LEASE", value_name = "NUMBER")]
    lease: Option<String>,
}

impl UnderLease {
    /// What is asked with.
    pub fn number(&self) -> anyhow::Result<Option<u64>> {
        let given = self.lease.as_deref().filter(|lease| !lease.is_empty());
        let number = |given: &str| {
            given.parse().map_err(|_| wrong(format!("`{given}` is no number of a lease; the claim printed one")))
        };
        given.map(number).transpose()
    }
}

/// A verb that was called wrongly in a way that only shows once it runs.
#[derive(Debug)]
pub struct Wrong(String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// The same as an error.
pub fn wrong(why: impl Into<String>) -> anyhow::Error {
    Wrong(why.into()).into()
}

/// Asks for a command and shows what came of it.
pub fn ask(
    here: &Here<'_>,
    once: &Once,
    id: &str,
    request: Value,
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?.with_key(once.key.as_deref())?;
    ask_of(&client, once.how.format, id, request, said)
}

/// The same with a payload that was read from a file, which is a message and no change of the working tree.
pub fn bring(
    here: &Here<'_>,
    once: &Once,
    id: &str,
    (file, request): (&Path, Value),
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?.with_key(once.key.as_deref())?;
    let client = if file == Path::new("-") { client } else { client.bringing(file) };
    ask_of(&client, once.how.format, id, request, said)
}

/// The same of a client that is open.
pub fn ask_of(
    client: &Client<'_>,
    format: Format,
    id: &str,
    request: Value,
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    conclude(client.ask(id, &without_nothing(request)), format, said)
}

/// Says what came of a command.
pub fn conclude(
    came: Result<Reply, Failure>,
    format: Format,
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    match came {
        Ok(reply) => {
            output::print(&answered(reply, format, said));
            Ok(Exit::Allowed)
        }
        Err(failure) => refused(failure, format),
    }
}

fn answered(reply: Reply, format: Format, said: impl FnOnce(&Value) -> String) -> String {
    let Reply { mut answer, repeated, findings, .. } = reply;
    match format {
        Format::Json => {
            answer["repeated"] = json!(repeated);
            if !findings.is_empty() {
                answer["findings"] = findings.iter().map(finding).collect();
            }
            line(&answer)
        }
        Format::Text => {
            for finding in &findings {
                let word = finding.severity.as_str();
                output::say(&format!("{word}: {}: {}; {}", finding.pointer, finding.message, finding.help));
            }
            let again = if repeated { "(done by an earlier call with this key)\n" } else { "" };
            format!("{}{again}", said(&answer))
        }
    }
}

/// Asks a question and shows the answer.
pub fn look(
    here: &Here<'_>,
    how: &How,
    id: &str,
    question: Value,
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    look_and_judge(here, how, id, question, said, |_| Exit::Allowed)
}

/// The same, where the answer may be no.
pub fn look_and_judge(
    here: &Here<'_>,
    how: &How,
    id: &str,
    question: Value,
    said: impl FnOnce(&Value) -> String,
    judge: impl FnOnce(&Value) -> Exit,
) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    match client.look(id, &without_nothing(question)) {
        Ok(shown) => {
            output::print(&answer(&shown, how.format, said));
            Ok(judge(&shown))
        }
        Err(failure) => refused(last_run_named(&client, failure), how.format),
    }
}

/// Asks for a list, page by page, and shows all of it, or as much as is wanted.
pub fn list(
    here: &Here<'_>,
    how: &How,
    id: &str,
    (question, items): (Value, &str),
    limit: Option<u64>,
    said: impl FnOnce(&Value) -> String,
) -> anyhow::Result<Exit> {
    let client = Client::open(here.project, here.global)?;
    match pages(&client, id, (question, items), limit) {
        Ok(shown) => {
            output::print(&answer(&shown, how.format, said));
            Ok(Exit::Allowed)
        }
        Err(failure) => refused(last_run_named(&client, failure), how.format),
    }
}

/// Why a question about the open run was not answered. Whoever looks after a run has ended means that one, as a rule, and is
/// told its name.
pub fn last_run_named(client: &Client<'_>, failure: Failure) -> Failure {
    let Failure::Refused(mut refusal) = failure else { return failure };
    let runs = || client.look("run.list", &json!({ "limit": 1 })).ok();
    if refusal.reason == NONE_OPEN
        && let Some(last) = runs().and_then(|shown| Some(shown["runs"][0]["run_id"].as_str()?.to_owned()))
    {
        refusal.help = format!("the last one is over: look at it with `--run {last}`; or {}", refusal.help).into();
    }
    Failure::Refused(refusal)
}

/// How many items are asked for at once.
const PAGE: u64 = 1000;

/// The pages of a list as one. Where it was cut, `next` says where it goes on.
pub fn pages(
    client: &Client<'_>,
    id: &str,
    (question, items): (Value, &str),
    limit: Option<u64>,
) -> Result<Value, Failure> {
    let mut question = without_nothing(question);
    let mut whole: Option<Value> = None;
    let mut left = limit.unwrap_or(u64::MAX);
    loop {
        question["limit"] = json!(left.min(PAGE));
        let mut page = client.look(id, &question)?;
        let next = page.get("next").filter(|next| next.is_string()).cloned();
        let found = page[items].as_array().map_or(0, |items| items.len() as u64);
        left = left.saturating_sub(found);
        whole = Some(match whole {
            None => page,
            Some(mut whole) => {
                if let (Some(all), Some(more)) = (whole[items].as_array_mut(), page[items].as_array_mut()) {
                    all.append(more);
                }
                whole
            }
        });
        match next {
            Some(next) if left > 0 => question["cursor"] = next,
            next => {
                let mut whole = whole.unwrap_or_default();
                if let Some(object) = whole.as_object_mut() {
                    object.remove("next");
                    object.extend(next.map(|next| ("next".to_owned(), next)));
                }
                return Ok(whole);
            }
        }
    }
}

/// What is to be printed of an answer.
pub fn answer(shown: &Value, format: Format, said: impl FnOnce(&Value) -> String) -> String {
    match format {
        Format::Json => line(shown),
        Format::Text => said(shown),
    }
}

/// A value as one line of JSON.
pub fn line(value: &Value) -> String {
    format!("{}\n", visible_json(&value.to_string()))
}

/// Shows why something was not done: for programs on standard output, for people on standard error.
pub fn refused(failure: Failure, format: Format) -> anyhow::Result<Exit> {
    if format == Format::Text {
        return super::failed(failure);
    }
    let refusal = match failure {
        Failure::Refused(refusal) => {
            let findings: Vec<Value> = refusal.findings.iter().map(finding).collect();
            said_no(refusal.code.as_str(), &refusal.reason, &refusal.help, findings)
        }
        Failure::Malformed(decision) => {
            let findings: Vec<Value> = decision.details.diagnostics.iter().map(finding).collect();
            let code = decision.code.map_or("SCHEMA_INVALID", |code| code.as_str());
            said_no(code, &decision.reason, "mend the request; the findings say where", findings)
        }
        Failure::Ledger(error @ countersign_ledger::Error::Refused(_)) => {
            let help = "look how it stands now, and ask again if it is still wanted";
            said_no("CONCURRENCY_CONFLICT", &error.to_string(), help, Vec::new())
        }
        failure => return super::failed(failure),
    };
    output::print(&line(&refusal));
    Ok(Exit::Refused)
}

fn said_no(code: &str, reason: &str, help: &str, findings: Vec<Value>) -> Value {
    json!({ "allow": false, "code": code, "reason": reason, "help": help, "details": { "findings": findings } })
}

fn finding(finding: &Diagnostic) -> Value {
    json!({
        "rule": finding.rule, "code": finding.code, "severity": finding.severity, "message": finding.message,
        "pointer": finding.pointer, "help": finding.help, "repair": finding.repair,
    })
}

/// A request without what was not said.
pub fn without_nothing(mut request: Value) -> Value {
    if let Some(fields) = request.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    request
}

/// The text of a file that was named; `-` is standard input.
pub fn text_of(here: &Here<'_>, path: &Path) -> anyhow::Result<String> {
    Input::named(path, None).text(here.project.settings.size_max)
}
