//! `countersign example`

use super::{Exit, contracts, output};
use crate::project::Project;

/// Print the smallest valid document of a contract
///
/// Of a contract that the configuration declares, it is the first of its schema's `examples` that the schema accepts, or
/// else one put together from what the schema asks for.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign example assignment
  countersign example subagent_result | countersign check -")]
pub struct Args {
    /// The contract
    name: String,
}

pub fn run(args: &Args, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name, project)? else { return Ok(Exit::Usage) };
    let Some(mut example) = contract.example() else { return Ok(Exit::Failed) };
    contract.seal(&mut example);
    output::print(&format!("{example:#}\n"));
    Ok(Exit::Allowed)
}
