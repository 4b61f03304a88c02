//! `countersign schema`

use super::{Exit, contracts, output};

/// Print the JSON Schema (2020-12) of a contract
///
/// The schema accepts exactly the shapes that the checker accepts; rules come on top.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign schema assignment > assignment.schema.json")]
pub struct Args {
    /// The contract
    name: String,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name) else { return Ok(Exit::Usage) };
    output::print(&format!("{:#}\n", (contract.schema)()));
    Ok(Exit::Allowed)
}
