//! `countersign example`

use super::{Exit, contracts, output};

/// Print the smallest valid document of a contract
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign example assignment
  countersign example subagent_result | countersign check -")]
pub struct Args {
    /// The contract
    name: String,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name) else { return Ok(Exit::Usage) };
    let mut example = (contract.example)();
    (contract.seal)(&mut example);
    output::print(&format!("{example:#}\n"));
    Ok(Exit::Allowed)
}
