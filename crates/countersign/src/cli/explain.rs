//! `countersign explain`

use super::{Exit, output};
use crate::explaining;
use crate::terminal::Terminal;

/// Explain a code or a rule: why it is there, what it refuses and what it accepts
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign explain LOCK_CONFLICT
  countersign explain heartbeat-not-below-timeout")]
pub struct Args {
    /// A code such as SCOPE_VIOLATION, or the id of a rule
    #[arg(value_name = "CODE|RULE")]
    what: String,
}

pub fn run(args: &Args) -> anyhow::Result<Exit> {
    let terminal = Terminal::stdout();
    match explaining::explain(&args.what, |head| terminal.bold(head)) {
        Ok(text) => {
            output::print(&text);
            Ok(Exit::Allowed)
        }
        Err(why) => {
            output::say(&format!("error: {why}"));
            Ok(Exit::Usage)
        }
    }
}
