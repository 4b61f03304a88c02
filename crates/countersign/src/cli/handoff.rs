//! `countersign handoff`

mod arriving;
mod chain;
mod check;
mod make;
mod onward;
mod receive;
mod send;
mod show;
mod tiers;

use super::Exit;
use super::asking::Here;
use crate::project::Project;
use crate::terminal::Terminal;
use crate::{checking, world};
use countersign_contract::{Checked, Request};
use countersign_diagnostic::Source;
use countersign_diagnostic::render::text;
use countersign_engine::Failure;
use std::path::Path;

/// Hand work over to another workflow: small enough to be read, whole enough to go on from, and the same when it arrives
///
/// `make` builds a handoff within its budget; what does not fit is kept in a file that the handoff refers to. `send` records
/// it, `receive` compares what arrives with what was sent. Loops are told by what was sent and received, not by what a
/// document says of its own way.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign handoff make --source planner --target builder --summary 'Build the plan' --problem-type implementation \\
      --payload plan.json
  countersign handoff check handoff.json
  countersign handoff send handoff.json --as planner
  countersign handoff receive handoff.json --as builder
  countersign handoff chain 550e8400-e29b-41d4-a716-446655440000

Exit codes: 0 done, 1 refused or a person must decide, 2 wrong usage, 3 could not be done.")]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Make(Box<make::Args>),
    Check(check::Args),
    Send(send::Args),
    Receive(receive::Args),
    Chain(chain::Args),
    Show(show::Args),
}

pub fn run(args: &Args, here: &Here<'_>) -> anyhow::Result<Exit> {
    match &args.verb {
        Verb::Make(args) => make::run(args, here),
        Verb::Check(args) => check::run(args, here),
        Verb::Send(args) => send::run(args, here),
        Verb::Receive(args) => receive::run(args, here),
        Verb::Chain(args) => chain::run(args, here),
        Verb::Show(args) => show::run(args, here),
    }
}

/// Checks a text as a universal handoff, with the files that it refers to looked for.
fn checked(project: &Project, source: Source<'_>, path: &Path) -> Checked {
    let outside = world::outside(None);
    let request = Request { contract: Some("universal_handoff"), ..Request::alone(source, &outside) };
    checking::checked(&project.checker(), project, &request, path)
}

/// Everything that was found, and what it comes to, for people.
fn verdict(checked: &Checked, source: Source<'_>, terminal: &Terminal) -> String {
    let findings = checking::findings(checked, source, terminal.look());
    format!("{findings}{}\n", terminal.bold(&text::verdict(&checked.decision)))
}

/// Why a question that a verb asks beside its own was not answered.
fn unanswered(failure: Failure) -> anyhow::Error {
    match failure {
        Failure::Refused(refusal) => anyhow::anyhow!("{}; {}", refusal.reason, refusal.help),
        Failure::Malformed(decision) => anyhow::anyhow!(decision.reason),
        Failure::Unknown(why) => anyhow::anyhow!(why),
        Failure::Ledger(error) => error.into(),
    }
}
