//! `countersign gate`

mod accept;
pub mod action;
pub mod answering;
mod approve;
mod check;
mod collecting;
mod judge;
mod land;
mod of;
mod refuse;
mod rule;
mod standing;
mod status;
mod testify;
mod validate;
mod waiting;

use super::asking::Here;
use super::words::text;
use super::{Exit, Global};
use crate::project::Project;
use countersign_diagnostic::visible;
use serde_json::Value;

/// See how work stands at its three gates, and answer what they ask
///
/// 1 claimed: every criterion is said to be met. 2 validated: by somebody else; what does not hold a person may accept.
/// 3 judged: if a judge is named. An action on a platform is approved or refused instead. `accept`, `testify`, `rule`,
/// `approve` and `refuse` are for people: somebody at a terminal, or with the token of an owner or a reviewer.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate status T-1
  countersign gate check promise-1a2b3c4d
  countersign gate validate promise-1a2b3c4d response.json --validator reviewer-1 --as reviewer-1
  countersign gate validate promise-1a2b3c4d --checks checks.yaml --as reviewer-1
  countersign gate accept T-1 --failures AC-2 --reason 'the slow path is replaced next week'

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 could not be done; `gate check` has its own.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Status(status::Args),
    Waiting(waiting::Args),
    Check(check::Args),
    Accept(accept::Args),
    Testify(testify::Args),
    Rule(rule::Args),
    Approve(approve::Args),
    Refuse(refuse::Args),
    Validate(validate::Args),
    Judge(judge::Args),
    Land(land::Args),
}

pub fn run(args: &Args, global: &Global, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Exit> {
    // Whatever goes wrong with it must not be taken for leave to stop.
    if let Verb::Check(args) = &args.verb {
        return Ok(check::run(args, global, project));
    }
    let project = project()?;
    let here = &Here { global, project: &project };
    match &args.verb {
        Verb::Status(args) => status::run(args, here),
        Verb::Waiting(args) => waiting::run(args, here),
        Verb::Accept(args) => accept::run(args, here),
        Verb::Testify(args) => testify::run(args, here),
        Verb::Rule(args) => rule::run(args, here),
        Verb::Approve(args) => approve::run(args, here),
        Verb::Refuse(args) => refuse::run(args, here),
        Verb::Validate(args) => validate::run(args, here),
        Verb::Judge(args) => judge::run(args, here),
        Verb::Land(args) => land::run(args, here),
        // Answered above.
        Verb::Check(_) => Ok(Exit::Usage),
    }
}

/// What followed from what was said at a gate, in a line.
fn followed(answer: &Value, name: &str) -> String {
    if answer["seq"].is_null() {
        return format!("{name}: it was so already\n");
    }
    let parts = ["verdict", "status", "reason"].map(|field| text(answer, field));
    let said: Vec<String> =
        parts.into_iter().filter(|part| !part.is_empty()).map(|part| part.replace('_', " ")).collect();
    let said = if said.is_empty() { "recorded".to_owned() } else { said.join(", ") };
    let less = answer["why"].as_object().into_iter().flatten();
    let less: String =
        less.map(|(id, why)| format!("  {id}  {}\n", visible(why.as_str().unwrap_or_default()))).collect();
    format!("{name}: {said}\n{less}  look  countersign gate status {name}\n")
}
