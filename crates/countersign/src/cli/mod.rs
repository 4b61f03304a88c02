//! The command line: one file for each verb.

mod check;
mod completions;
mod contracts;
mod example;
mod explain;
mod fix;
mod man;
mod new;
mod output;
mod rules;
mod schema;
mod targets;
mod tokens;

use crate::project::Project;
use clap::{CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// What a command ended with, as its exit code says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything was allowed.
    Allowed = 0,
    /// Something was refused.
    Refused = 1,
    /// The command was called wrongly.
    Usage = 2,
    /// Something could not be read or done at all.
    Failed = 3,
}

/// Checks what agents hand to each other, and says what may pass, why not, where, and what to do
#[derive(Debug, Parser)]
#[command(name = "countersign", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    /// The project's directory; otherwise the one above with a `.countersign` in it
    #[arg(long, global = true, env = "COUNTERSIGN_PROJECT", value_name = "DIR", help_heading = "Everywhere")]
    project: Option<PathBuf>,

    /// How many bytes a document may have; 16 MiB unless given
    #[arg(
        long, global = true, env = "COUNTERSIGN_MAX_SIZE", value_name = "BYTES", help_heading = "Everywhere",
        value_parser = clap::value_parser!(u32).range(1..=SIZE_LIMIT),
    )]
    max_size: Option<u32>,

    #[command(subcommand)]
    verb: Verb,
}

/// The most that `--max-size` may allow.
const SIZE_LIMIT: i64 = countersign_contract::SIZE_MAX_LIMIT as i64;

const AFTER_HELP: &str = "\
Examples:
  countersign check assignment.json
  countersign check result.json --with assignment.json
  countersign check . --format sarif > findings.sarif
  countersign fix handoff.json --write
  countersign explain LOCK_CONFLICT

Exit codes: 0 allowed, 1 refused, 2 wrong usage, 3 could not be read.";

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Args),
    Fix(fix::Args),
    Explain(explain::Args),
    Rules(rules::Args),
    Contracts(contracts::Args),
    Schema(schema::Args),
    Example(example::Args),
    New(new::Args),
    Tokens(tokens::Args),
    Targets(targets::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the command line and says how it ended. What went wrong on the way is said on standard error.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let code = if error.use_stderr() { Exit::Usage } else { Exit::Allowed };
            let _ = error.print();
            return ExitCode::from(code as u8);
        }
    };
    let exit = run(cli).unwrap_or_else(|error| {
        output::say(&format!("error: {error:#}"));
        Exit::Failed
    });
    let exit = if output::landed() { exit } else { Exit::Failed };
    ExitCode::from(exit as u8)
}

fn run(cli: Cli) -> anyhow::Result<Exit> {
    let project = || Project::find(cli.project.as_deref(), cli.max_size.map(|size| size as usize));
    match cli.verb {
        Verb::Check(args) => check::run(&args, &project()?),
        Verb::Fix(args) => fix::run(&args, &project()?),
        Verb::Explain(args) => explain::run(&args),
        Verb::Rules(args) => rules::run(&args),
        Verb::Contracts(args) => contracts::run(&args, &project()?),
        Verb::Schema(args) => schema::run(&args),
        Verb::Example(args) => example::run(&args),
        Verb::New(args) => new::run(&args),
        Verb::Tokens(args) => tokens::run(&args, &project()?),
        Verb::Targets(args) => targets::run(&args, &project()?),
        Verb::Completions(args) => completions::run(&args, &mut Cli::command()),
        Verb::Man(args) => man::run(&args, &Cli::command()),
    }
}
