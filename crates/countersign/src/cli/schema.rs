//! `countersign schema`

use super::{Exit, contracts, output};
use crate::project::Project;

/// Print the JSON Schema (2020-12) of a contract
///
/// The schema accepts exactly the shapes that the checker accepts; rules come on top. Of a contract that the
/// configuration declares, its own schema is printed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign schema assignment > assignment.schema.json")]
pub struct Args {
    /// The contract
    name: String,
}

pub fn run(args: &Args, project: impl FnOnce() -> anyhow::Result<Project>) -> anyhow::Result<Exit> {
    let Some(contract) = contracts::find(&args.name, project)? else { return Ok(Exit::Usage) };
    output::print(&format!("{:#}\n", contract.schema()));
    Ok(Exit::Allowed)
}
