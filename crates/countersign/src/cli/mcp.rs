//! `countersign mcp`

use super::{Exit, Global};
use crate::hook::Harness;
use crate::mcp::{Bearer, Caller, Sessions, Shared, stdio};
use crate::place::{self, Place};
use crate::project::Project;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use countersign_domain::deciding::Role;
use std::sync::Arc;

/// Serve an agent over the Model Context Protocol, on standard input and output
///
/// A client starts this and calls its tools: next, claim, heartbeat, submit and what else an agent's life needs. Who calls
/// is said once, here, with --as or a token; or --client says whose sessions call, and each has the name that its hooks
/// know it by. It ends when standard input does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign mcp --as agent:coder-1
  countersign mcp --client claude-code
  claude mcp add countersign -- countersign mcp --client claude-code
  codex mcp add countersign -- countersign mcp --client codex

Exit codes: 0 the client is done, 3 the ledger could not be opened.")]
pub struct Args {
    /// The client whose sessions call, where neither --as nor a token says who does
    #[arg(long, value_parser = clients())]
    client: Option<Harness>,
}

fn clients() -> impl TypedValueParser<Value = Harness> {
    let known = [Harness::ClaudeCode, Harness::Codex];
    PossibleValuesParser::new(known.map(Harness::as_str))
        .map(move |name| known.into_iter().find(|it| it.as_str() == name).unwrap_or(Harness::ClaudeCode))
}

pub fn run(args: &Args, global: &Global, project: Project) -> anyhow::Result<Exit> {
    let engine = Place::of(&project, global.ledger.as_deref())?.engine()?;
    let mut call = place::call(global, engine.ledger().project(), None)?;
    // Behind a client is a program, even where a terminal is around.
    call.roles.retain(|role| matches!(role, Role::Agent | Role::Orchestrator));
    let caller = match (place::shown_token(global)?, args.client.filter(|_| global.actor.is_none())) {
        (Some(shown), _) => Caller::OfToken(Arc::new(Bearer::of(shown, engine.ledger().project()))),
        (None, Some(client)) => Caller::OfSession(Arc::new(Sessions::of(client, call, &project))),
        (None, None) => Caller::Always(call),
    };
    stdio::serve(Shared::new(Arc::new(engine), Arc::new(project)), caller)?;
    Ok(Exit::Allowed)
}
