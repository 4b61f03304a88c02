//! `countersign mcp`

use super::{Exit, Global};
use crate::mcp::{Shared, stdio};
use crate::place::{self, Place};
use crate::project::Project;
use countersign_domain::deciding::Role;
use std::sync::Arc;

/// Serve an agent over the Model Context Protocol, on standard input and output
///
/// A client starts this and calls its tools: next, claim, heartbeat, submit and what else an agent's life needs. Who calls
/// is said once, here, with --as or a token. It ends when standard input does.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign mcp --as agent:coder-1
  claude mcp add countersign -- countersign mcp --as agent:coder-1

Exit codes: 0 the client is done, 3 the ledger could not be opened.")]
pub struct Args {}

pub fn run(_: &Args, global: &Global, project: Project) -> anyhow::Result<Exit> {
    let engine = Place::of(&project, global.ledger.as_deref())?.engine()?;
    let mut call = place::call(global, engine.ledger().project(), None)?;
    // Behind a client is a program, even where a terminal is around.
    if !call.authn.starts_with("token ") {
        call.roles.retain(|role| matches!(role, Role::Agent | Role::Orchestrator));
    }
    stdio::serve(Shared::new(Arc::new(engine), Arc::new(project)), call)?;
    Ok(Exit::Allowed)
}
